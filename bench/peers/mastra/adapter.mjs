// Mastra. Its default recall is the last 10 messages; ":full" recalls the whole conversation, as the others do.
import fs from "node:fs";
import path from "node:path";
import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { InMemoryStore } from "@mastra/core/storage";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";
import { deltaCounter } from "../../lib/clock.mjs";
import {
  addOne,
  INSTRUCTIONS,
  lookUpOrder,
  loopScript,
  PROMPT,
  promptGauge,
  sessionScript,
  TOOL_DESCRIPTION,
  TOOL_NAME,
} from "../../lib/script.mjs";
import { scriptedModel } from "../../lib/scripted-model.mjs";

let lastId = 0;

function agentOf({ script, work, memory, ...modelOptions }) {
  const addOneTool = createTool({
    id: TOOL_NAME,
    description: TOOL_DESCRIPTION,
    inputSchema: z.object({ x: z.number() }),
    execute: async (input) => work(input.x ?? input.context?.x),
  });
  return new Agent({
    id: `agent-${++lastId}`,
    name: "bench",
    instructions: INSTRUCTIONS,
    model: scriptedModel(script, { specificationVersion: "v3", ...modelOptions }),
    tools: { [TOOL_NAME]: addOneTool },
    ...(memory && { memory }),
  });
}

/** The agent under observation, and the exporter that keeps its ended spans. Mastra's TestExporter does much more. */
async function observed(agent) {
  const { BaseExporter, Observability } = await import("@mastra/observability");
  class MemoryExporter extends BaseExporter {
    name = "memory";
    ended = [];
    async _exportTracingEvent(event) {
      if (event.type === "span_ended") {
        this.ended.push(event.exportedSpan);
      }
    }
  }
  const exporter = new MemoryExporter();
  const configs = { default: { serviceName: "bench", exporters: [exporter] } };
  const mastra = new Mastra({
    agents: { bench: agent },
    logger: false,
    storage: new InMemoryStore(),
    observability: new Observability({ configs }),
  });
  return { agent: mastra.getAgent("bench"), exporter };
}

export async function loop({ steps, tracing }) {
  const plain = agentOf({ script: loopScript(steps), work: addOne });
  const { agent, exporter } = tracing ? await observed(plain) : { agent: plain };
  return {
    async run() {
      if (exporter) {
        exporter.ended = [];
      }
      const result = await agent.generate(PROMPT, { maxSteps: steps + 5 });
      return {
        text: result.text,
        get spans() {
          return exporter?.ended.length ?? 0;
        },
        keep: result,
      };
    },
  };
}

async function openStorage(store, folder) {
  if (store === "memory") {
    return new InMemoryStore();
  }
  const { LibSQLStore } = await import("@mastra/libsql");
  fs.mkdirSync(folder, { recursive: true });
  return new LibSQLStore({ id: `store-${++lastId}`, url: `file:${path.join(folder, "session.db")}` });
}

export async function session({ store, folder, variant }) {
  const { Memory } = await import("@mastra/memory");
  const storage = await openStorage(store, folder);
  const memory = new Memory({ storage, options: { lastMessages: variant === "full" ? 100_000 : 10 } });
  const gauge = promptGauge();
  const agent = agentOf({ script: sessionScript(), work: lookUpOrder, memory, gauge });
  return {
    async turn(text) {
      const result = await agent.generate(text, { memory: { thread: "t1", resource: "u1" } });
      return result.text;
    },
    async history() {
      const recalled = await memory.recall({ threadId: "t1", resourceId: "u1", perPage: false });
      return recalled.messages.length;
    },
    longestPrompt: () => gauge.longest,
    close: () => storage.close?.(),
  };
}

export async function stream({ deltas }) {
  const agent = agentOf({ script: loopScript(0), work: addOne, deltas });
  return {
    async run() {
      const counter = deltaCounter();
      const result = await agent.stream(PROMPT);
      for await (const _ of result.textStream) {
        counter.add();
      }
      return counter;
    },
  };
}
