// VoltAgent, which stands on ai 6. Its observability can't be switched off, so it has figures with tracing only.
import fs from "node:fs";
import path from "node:path";
import {
  Agent,
  createTool,
  InMemoryObservabilityAdapter,
  InMemoryStorageAdapter,
  Memory,
  VoltAgentObservability,
} from "@voltagent/core";
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

globalThis.AI_SDK_LOG_WARNINGS = false;

const silent = {
  trace() {},
  debug() {},
  info() {},
  warn() {},
  error() {},
  fatal() {},
  child: () => silent,
};

// One for the process: VoltAgent registers its provider globally, and a later one silently writes to the first one's
// storage.
const spans = new InMemoryObservabilityAdapter();
const observability = new VoltAgentObservability({
  storage: spans,
  logger: silent,
  voltOpsSync: { sampling: { strategy: "never" } },
});

function agentOf({ script, work, memory = false, maxSteps = 20, ...modelOptions }) {
  const addOneTool = createTool({
    name: TOOL_NAME,
    description: TOOL_DESCRIPTION,
    parameters: z.object({ x: z.number() }),
    execute: async ({ x }) => work(x),
  });
  return new Agent({
    name: "bench",
    instructions: INSTRUCTIONS,
    model: scriptedModel(script, { specificationVersion: "v3", ...modelOptions }),
    tools: [addOneTool],
    maxSteps,
    memory,
    observability,
    logger: silent,
  });
}

export async function loop({ steps }) {
  const maxSteps = steps + 5;
  const agent = agentOf({ script: loopScript(steps), work: addOne, maxSteps });
  return {
    async run() {
      const result = await agent.generateText(PROMPT, { maxSteps });
      return { text: result.text, spans: spans.spans?.size, keep: result };
    },
    async between() {
      await spans.clear?.();
    },
  };
}

async function openStorage(store, folder) {
  if (store === "memory") {
    return new InMemoryStorageAdapter();
  }
  const { LibSQLMemoryAdapter } = await import("@voltagent/libsql");
  fs.mkdirSync(folder, { recursive: true });
  return new LibSQLMemoryAdapter({ url: `file:${path.join(folder, "session.db")}`, logger: silent });
}

export async function session({ store, folder }) {
  const storage = await openStorage(store, folder);
  const gauge = promptGauge();
  const agent = agentOf({ script: sessionScript(), work: lookUpOrder, memory: new Memory({ storage }), gauge });
  return {
    async turn(text) {
      const result = await agent.generateText(text, { userId: "u1", conversationId: "c1", contextLimit: 100_000 });
      return result.text;
    },
    async history() {
      // It writes in the background; give it time to finish.
      await new Promise((resolve) => setTimeout(resolve, 300));
      const messages = await storage.getMessages("u1", "c1", {});
      return messages.length;
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
      const result = await agent.streamText(PROMPT);
      for await (const _ of result.textStream) {
        counter.add();
      }
      return counter;
    },
  };
}
