// pi: its Agent class, with the transcript in memory. It has no tracing, and streams by callback.
import { Agent } from "@mariozechner/pi-agent-core";
import { AssistantMessageEventStream, Type } from "@mariozechner/pi-ai";
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

const NO_COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const USAGE = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, totalTokens: 15, cost: { ...NO_COST, total: 0 } };
const MODEL = {
  id: "scripted",
  name: "scripted",
  api: "scripted",
  provider: "scripted",
  baseUrl: "",
  reasoning: false,
  input: ["text"],
  cost: NO_COST,
  contextWindow: 1e6,
  maxTokens: 1e4,
};
const MESSAGE = {
  role: "assistant",
  api: "scripted",
  provider: "scripted",
  model: "scripted",
  usage: USAGE,
  timestamp: 0,
};

function scriptedStream(script, gauge = promptGauge()) {
  return (_model, context) => {
    gauge.see(context.messages.length);
    const message = messageOf(script.next(context.messages.length));
    const events = new AssistantMessageEventStream();
    events.push({ type: "done", reason: message.stopReason, message });
    events.end(message);
    return events;
  };
}

function messageOf(reply) {
  if (reply.isToolCall) {
    const call = { type: "toolCall", id: reply.id, name: reply.name, arguments: reply.input };
    return { ...MESSAGE, content: [call], stopReason: "toolUse" };
  }
  return { ...MESSAGE, content: [{ type: "text", text: reply.text }], stopReason: "stop" };
}

function deltaStream(deltas) {
  return () => {
    const events = new AssistantMessageEventStream();
    void pushDeltas(events, deltas);
    return events;
  };
}

/** One delta for each turn of the microtask queue, as a provider's parser would push them. */
async function pushDeltas(events, deltas) {
  const content = { type: "text", text: "" };
  const partial = { ...MESSAGE, content: [content], stopReason: "stop" };
  events.push({ type: "start", partial });
  events.push({ type: "text_start", contentIndex: 0, partial });
  for (let index = 0; index < deltas; index++) {
    content.text += DELTA;
    events.push({ type: "text_delta", contentIndex: 0, delta: DELTA, partial });
    await null;
  }
  events.push({ type: "text_end", contentIndex: 0, content: content.text, partial });
  events.push({ type: "done", reason: "stop", message: partial });
  events.end(partial);
}

function toolOf(work) {
  return {
    name: TOOL_NAME,
    label: TOOL_NAME,
    description: TOOL_DESCRIPTION,
    parameters: Type.Object({ x: Type.Number() }),
    execute: async (_id, { x }) => ({ content: [{ type: "text", text: work(x) }], details: undefined }),
  };
}

function agentOf(streamFn, tool) {
  return new Agent({ initialState: { systemPrompt: INSTRUCTIONS, model: MODEL, tools: [tool] }, streamFn });
}

function lastText(agent) {
  return agent.state.messages.at(-1).content[0].text;
}

export async function loop({ steps }) {
  const streamFn = scriptedStream(loopScript(steps));
  const tool = toolOf(addOne);
  return {
    async run() {
      const agent = agentOf(streamFn, tool);
      await agent.prompt(PROMPT);
      if (agent.state.errorMessage) {
        throw new Error(agent.state.errorMessage);
      }
      return { text: lastText(agent), keep: agent };
    },
  };
}

export async function session({ store }) {
  if (store !== "memory") {
    throw new Error(`pi's agent core has no "${store}" sessions`);
  }
  const gauge = promptGauge();
  const agent = agentOf(scriptedStream(sessionScript(), gauge), toolOf(lookUpOrder));
  return {
    async turn(text) {
      await agent.prompt(text);
      return lastText(agent);
    },
    async history() {
      return agent.state.messages.length;
    },
    longestPrompt: () => gauge.longest,
  };
}

export async function stream({ deltas }) {
  const streamFn = deltaStream(deltas);
  const tool = toolOf(addOne);
  return {
    async run() {
      const counter = deltaCounter();
      const agent = agentOf(streamFn, tool);
      agent.subscribe((event) => {
        if (event.type === "message_update" && event.assistantMessageEvent.type === "text_delta") {
          counter.add();
        }
      });
      await agent.prompt(PROMPT);
      return counter;
    },
  };
}
