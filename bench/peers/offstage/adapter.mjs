// Offstage, as built in packages/offstage/dist. Variants: ":zod" checks tool input with zod instead of by JSON Schema,
// ":push" streams from a model whose stream is an async iterable.
import fs from "node:fs";
import path from "node:path";
import * as offstage from "../../../packages/offstage/dist/index.js";
import { deltaCounter } from "../../lib/clock.mjs";
import {
  addOne,
  INSTRUCTIONS,
  lookUpOrder,
  loopScript,
  overlappingScript,
  PROMPT,
  promptGauge,
  sessionScript,
  TOOL_DESCRIPTION,
  TOOL_NAME,
} from "../../lib/script.mjs";
import { iteratedStream, scriptedModel } from "../../lib/scripted-model.mjs";

async function inputOf(variant) {
  if (variant === "zod") {
    const { z } = await import("zod");
    return z.object({ x: z.number() });
  }
  return { jsonSchema: { type: "object", properties: { x: { type: "number" } }, required: ["x"] } };
}

async function agentOf({ model, work, variant, tracing }) {
  const addOneTool = offstage.tool({
    name: TOOL_NAME,
    description: TOOL_DESCRIPTION,
    input: await inputOf(variant),
    execute: async ({ x }) => work(x),
  });
  return new offstage.Agent({ model, instructions: INSTRUCTIONS, tools: [addOneTool], tracing });
}

/** THE PLACE TO ADAPT when the shape of `tracing` changes: the option that turns it on, and the spans it kept. */
function memoryTracing() {
  let spans = [];
  const exporter = {
    name: "bench",
    export(ended) {
      spans.push(...ended);
    },
    async flush() {},
    async shutdown() {},
  };
  const take = () => {
    const taken = spans;
    spans = [];
    return taken;
  };
  return { option: { exporters: [exporter] }, take };
}

export async function loop({ steps, tracing, variant, overlapping = false }) {
  const model = scriptedModel(overlapping ? overlappingScript(steps) : loopScript(steps));
  const tracer = tracing ? memoryTracing() : undefined;
  const agent = await agentOf({ model, work: addOne, variant, tracing: tracer?.option ?? false });
  return {
    async run() {
      const result = await agent.run(PROMPT, { maxSteps: steps + 5 });
      const spans = tracer?.take() ?? [];
      return { text: result.output, spans: spans.length, keep: [result, spans] };
    },
  };
}

async function openSession(store, folder) {
  if (store === "memory") {
    return new offstage.InMemorySession("s1");
  }
  fs.mkdirSync(folder, { recursive: true });
  return await offstage.PersistentSession.persistent("s1", { path: path.join(folder, "session.db") });
}

export async function session({ store, folder, variant }) {
  const gauge = promptGauge();
  const model = scriptedModel(sessionScript(), { gauge });
  // As it is by default, a durable session keeps the spans of its runs. In memory tracing is off, as in the loop.
  const tracing = store === "memory" ? false : undefined;
  const agent = await agentOf({ model, work: lookUpOrder, variant, tracing });
  const opened = await openSession(store, folder);
  return {
    async turn(text) {
      const result = await agent.run(text, { session: opened });
      return result.output;
    },
    async history() {
      return await opened.getItemCount();
    },
    longestPrompt: () => gauge.longest,
    close: () => opened.close(),
  };
}

export async function stream({ deltas, variant }) {
  const streamOf = variant === "push" ? { streamOf: iteratedStream } : {};
  const model = scriptedModel(loopScript(0), { deltas, ...streamOf });
  const agent = await agentOf({ model, work: addOne, tracing: false });
  return {
    async run() {
      const counter = deltaCounter();
      for await (const event of agent.stream(PROMPT)) {
        if (event.type === "text-delta") {
          counter.add();
        }
      }
      return counter;
    },
  };
}
