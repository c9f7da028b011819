// Strands: its default window of 40 messages is replaced by NullConversationManager. It has no SQLite; "file" is its
// SessionManager on local files.
import { Agent, FileStorage, Model, NullConversationManager, SessionManager, tool } from "@strands-agents/sdk";
import { z } from "zod";
import { deltaCounter } from "../../lib/clock.mjs";
import { startInMemoryOtel } from "../../lib/in-memory-otel.mjs";
import {
  addOne,
  DELTA,
  INSTRUCTIONS,
  lookUpOrder,
  loopScript,
  PROMPT,
  promptGauge,
  sessionScript,
  TOOL_DESCRIPTION,
  TOOL_NAME,
} from "../../lib/script.mjs";

const USAGE_EVENT = { type: "modelMetadataEvent", usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 } };

class ScriptedModel extends Model {
  constructor(script, { gauge = promptGauge(), deltas = 0 } = {}) {
    super();
    this.script = script;
    this.gauge = gauge;
    this.deltas = deltas;
  }

  updateConfig() {}

  getConfig() {
    return { modelId: "scripted" };
  }

  async *stream(messages) {
    this.gauge.see(messages.length);
    yield { type: "modelMessageStartEvent", role: "assistant" };
    if (this.deltas > 0) {
      yield* deltaEvents(this.deltas);
    } else {
      yield* replyEvents(this.script.next(messages.length));
    }
    yield USAGE_EVENT;
  }
}

async function* deltaEvents(deltas) {
  yield { type: "modelContentBlockStartEvent" };
  for (let index = 0; index < deltas; index++) {
    yield { type: "modelContentBlockDeltaEvent", delta: { type: "textDelta", text: DELTA } };
  }
  yield { type: "modelContentBlockStopEvent" };
  yield { type: "modelMessageStopEvent", stopReason: "endTurn" };
}

function* replyEvents(reply) {
  if (reply.isToolCall) {
    const start = { type: "toolUseStart", name: reply.name, toolUseId: reply.id };
    yield { type: "modelContentBlockStartEvent", start };
    yield { type: "modelContentBlockDeltaEvent", delta: { type: "toolUseInputDelta", input: reply.json } };
  } else {
    yield { type: "modelContentBlockStartEvent" };
    yield { type: "modelContentBlockDeltaEvent", delta: { type: "textDelta", text: reply.text } };
  }
  yield { type: "modelContentBlockStopEvent" };
  yield { type: "modelMessageStopEvent", stopReason: reply.isToolCall ? "toolUse" : "endTurn" };
}

function toolOf(work) {
  return tool({
    name: TOOL_NAME,
    description: TOOL_DESCRIPTION,
    inputSchema: z.object({ x: z.number() }),
    callback: async ({ x }) => work(x),
  });
}

function agentOf(model, tools, more = {}) {
  const conversationManager = new NullConversationManager();
  return new Agent({ model, tools, systemPrompt: INSTRUCTIONS, printer: false, conversationManager, ...more });
}

function textOf(result) {
  return result.lastMessage.content.map((block) => block.text ?? "").join("");
}

let startedOtel;

function otel() {
  startedOtel ??= startInMemoryOtel((name) => import(name));
  return startedOtel;
}

export async function loop({ steps, tracing }) {
  const exporter = tracing ? (await otel()).exporter : undefined;
  const model = new ScriptedModel(loopScript(steps));
  const tools = [toolOf(addOne)];
  return {
    async run() {
      exporter?.reset();
      const agent = agentOf(model, tools);
      const result = await agent.invoke(PROMPT);
      return { text: textOf(result), spans: exporter?.getFinishedSpans().length ?? 0, keep: [agent, result] };
    },
  };
}

export async function session({ store, folder }) {
  const gauge = promptGauge();
  const model = new ScriptedModel(sessionScript(), { gauge });
  const more = store === "memory" ? {} : { sessionManager: fileSessionManager(folder) };
  const agent = agentOf(model, [toolOf(lookUpOrder)], more);
  return {
    async turn(text) {
      return textOf(await agent.invoke(text));
    },
    async history() {
      return agent.messages.length;
    },
    longestPrompt: () => gauge.longest,
  };
}

function fileSessionManager(folder) {
  return new SessionManager({ sessionId: "s1", storage: { snapshot: new FileStorage(folder) } });
}

export async function stream({ deltas }) {
  const model = new ScriptedModel(undefined, { deltas });
  const tools = [toolOf(addOne)];
  return {
    async run() {
      const counter = deltaCounter();
      for await (const event of agentOf(model, tools).stream(PROMPT)) {
        const inner = event.type === "modelStreamUpdateEvent" ? event.event : event;
        if (inner.type === "modelContentBlockDeltaEvent") {
          counter.add();
        }
      }
      return counter;
    },
  };
}
