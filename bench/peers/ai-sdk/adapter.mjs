// The AI SDK: a ToolLoopAgent. It has no session store; in memory, the caller keeps the messages.
import { isStepCount, ToolLoopAgent, tool } from "ai";
import { z } from "zod";
import { deltaCounter } from "../../lib/clock.mjs";
import { startInMemoryOtel } from "../../lib/in-memory-otel.mjs";
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

const OFF = { isEnabled: false };
let startedOtel;

function otel() {
  startedOtel ??= startOtel();
  return startedOtel;
}

async function startOtel() {
  const { OpenTelemetry } = await import("@ai-sdk/otel");
  const { exporter, provider } = await startInMemoryOtel((name) => import(name));
  return { exporter, integration: new OpenTelemetry({ tracer: provider.getTracer("ai") }) };
}

function agentOf({ model, work, maxSteps, telemetry = OFF }) {
  const addOneTool = tool({
    description: TOOL_DESCRIPTION,
    inputSchema: z.object({ x: z.number() }),
    execute: async ({ x }) => work(x),
  });
  return new ToolLoopAgent({
    model,
    instructions: INSTRUCTIONS,
    tools: { [TOOL_NAME]: addOneTool },
    stopWhen: isStepCount(maxSteps),
    telemetry,
  });
}

export async function loop({ steps, tracing }) {
  const tracer = tracing ? await otel() : undefined;
  const telemetry = tracer ? { isEnabled: true, integrations: [tracer.integration] } : OFF;
  const model = scriptedModel(loopScript(steps));
  const agent = agentOf({ model, work: addOne, maxSteps: steps + 5, telemetry });
  return {
    async run() {
      tracer?.exporter.reset();
      const result = await agent.generate({ prompt: PROMPT });
      return { text: result.text, spans: tracer?.exporter.getFinishedSpans().length ?? 0, keep: result };
    },
  };
}

export async function session({ store }) {
  if (store !== "memory") {
    throw new Error(`The AI SDK has no "${store}" sessions`);
  }
  const gauge = promptGauge();
  const model = scriptedModel(sessionScript(), { gauge });
  const agent = agentOf({ model, work: lookUpOrder, maxSteps: 10 });
  const messages = [];
  return {
    async turn(text) {
      messages.push({ role: "user", content: text });
      const result = await agent.generate({ messages });
      messages.push(...(result.responseMessages ?? result.response.messages));
      return result.text;
    },
    async history() {
      return messages.length;
    },
    longestPrompt: () => gauge.longest,
  };
}

export async function stream({ deltas }) {
  const model = scriptedModel(loopScript(0), { deltas });
  const agent = agentOf({ model, work: addOne, maxSteps: 20 });
  return {
    async run() {
      const counter = deltaCounter();
      const result = await agent.stream({ prompt: PROMPT });
      for await (const _ of result.textStream) {
        counter.add();
      }
      return counter;
    },
  };
}
