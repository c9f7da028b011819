// The OpenAI Agents SDK: an Agent on a Runner. Its "sqlite" sessions are ours (sqlite-session.mjs).
import path from "node:path";
import { Agent, MemorySession, Runner, setTraceProcessors, setTracingDisabled, tool, Usage } from "@openai/agents";
import { z } from "zod";
import { deltaCounter } from "../../lib/clock.mjs";
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
import { SqliteSession } from "./sqlite-session.mjs";

const USAGE = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };

class ScriptedModel {
  constructor(script, { gauge = promptGauge(), deltas = 0 } = {}) {
    this.script = script;
    this.gauge = gauge;
    this.deltas = deltas;
    this.replies = 0;
  }

  async getResponse({ input }) {
    const promptLength = Array.isArray(input) ? input.length : 1;
    this.gauge.see(promptLength);
    const output = [outputItem(this.script.next(promptLength), this.replies++)];
    return { usage: new Usage(USAGE), output, responseId: `r${this.replies}` };
  }

  async *getStreamedResponse() {
    yield { type: "response_started" };
    let text = "";
    for (let index = 0; index < this.deltas; index++) {
      text += DELTA;
      yield { type: "output_text_delta", delta: DELTA };
    }
    yield { type: "response_done", response: { id: "r", usage: USAGE, output: [messageItem("m", text)] } };
  }
}

function outputItem(reply, index) {
  if (!reply.isToolCall) {
    return messageItem(`msg_${index}`, reply.text);
  }
  const call = { callId: reply.id, name: reply.name, status: "completed", arguments: reply.json };
  return { type: "function_call", id: `fc_${index}`, ...call };
}

function messageItem(id, text) {
  const content = [{ type: "output_text", text }];
  return { type: "message", id, role: "assistant", status: "completed", content };
}

function agentOf(model, work) {
  const addOneTool = tool({
    name: TOOL_NAME,
    description: TOOL_DESCRIPTION,
    parameters: z.object({ x: z.number() }),
    execute: async ({ x }) => work(x),
  });
  return new Agent({ name: "bench", instructions: INSTRUCTIONS, model, tools: [addOneTool] });
}

/** Keeps the traces and spans that ended since `reset()`. */
const memoryProcessor = {
  ended: [],
  reset() {
    this.ended = [];
  },
  start() {},
  async onTraceStart() {},
  async onTraceEnd(trace) {
    this.ended.push(trace);
  },
  async onSpanStart() {},
  async onSpanEnd(span) {
    this.ended.push(span);
  },
  async shutdown() {},
  async forceFlush() {},
};

export async function loop({ steps, tracing }) {
  setTracingDisabled(!tracing);
  setTraceProcessors(tracing ? [memoryProcessor] : []);
  const agent = agentOf(new ScriptedModel(loopScript(steps)), addOne);
  const runner = new Runner({ tracingDisabled: !tracing });
  return {
    async run() {
      memoryProcessor.reset();
      const result = await runner.run(agent, PROMPT, { maxTurns: steps + 5 });
      return { text: result.finalOutput, spans: memoryProcessor.ended.length, keep: result };
    },
  };
}

export async function session({ store, folder }) {
  setTracingDisabled(true);
  const gauge = promptGauge();
  const agent = agentOf(new ScriptedModel(sessionScript(), { gauge }), lookUpOrder);
  const runner = new Runner({ tracingDisabled: true });
  const opened = openSession(store, folder);
  return {
    async turn(text) {
      const result = await runner.run(agent, text, { session: opened });
      return result.finalOutput;
    },
    async history() {
      return (await opened.getItems()).length;
    },
    longestPrompt: () => gauge.longest,
    close: () => opened.close?.(),
  };
}

function openSession(store, folder) {
  if (store === "memory") {
    return new MemorySession({ sessionId: "s1" });
  }
  return new SqliteSession(path.join(folder, "session.db"), "s1");
}

export async function stream({ deltas }) {
  setTracingDisabled(true);
  const agent = agentOf(new ScriptedModel(undefined, { deltas }), addOne);
  const runner = new Runner({ tracingDisabled: true });
  return {
    async run() {
      const counter = deltaCounter();
      const result = await runner.run(agent, PROMPT, { stream: true });
      for await (const event of result) {
        if (event.type === "raw_model_stream_event" && event.data.type === "output_text_delta") {
          counter.add();
        }
      }
      await result.completed;
      return counter;
    },
  };
}
