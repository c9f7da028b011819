// A scripted AI SDK language model (V3 or V4) as a plain object. Not the mock of `ai/test`: that keeps every prompt, and
// its quadratic memory would spoil the figures.
import { DELTA, promptGauge } from "./script.mjs";

const USAGE = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 },
};
const STOP = { unified: "stop", raw: undefined };
const TOOL_CALLS = { unified: "tool-calls", raw: undefined };

/** A model that plays `script`; with `deltas`, its streams are that many text deltas instead. */
export function scriptedModel(script, options = {}) {
  const { specificationVersion = "v4", deltas = 0, gauge = promptGauge(), streamOf = pulledStream } = options;
  return {
    specificationVersion,
    provider: "scripted",
    modelId: "scripted",
    supportedUrls: {},
    async doGenerate({ prompt }) {
      gauge.see(prompt.length);
      return generated(script.next(prompt.length));
    },
    async doStream({ prompt }) {
      gauge.see(prompt.length);
      if (deltas > 0) {
        return { stream: streamOf(deltas) };
      }
      return { stream: replyStream(script.next(prompt.length)) };
    },
  };
}

function generated(reply) {
  if (reply.isToolCall) {
    return { content: [toolCall(reply)], finishReason: TOOL_CALLS, usage: USAGE, warnings: [] };
  }
  return { content: [{ type: "text", text: reply.text }], finishReason: STOP, usage: USAGE, warnings: [] };
}

function toolCall(reply) {
  return { type: "tool-call", toolCallId: reply.id, toolName: reply.name, input: reply.json };
}

function replyStream(reply) {
  return new ReadableStream({
    start(controller) {
      for (const part of replyParts(reply)) {
        controller.enqueue(part);
      }
      controller.close();
    },
  });
}

function replyParts(reply) {
  const start = { type: "stream-start", warnings: [] };
  if (reply.isToolCall) {
    return [start, toolCall(reply), { type: "finish", finishReason: TOOL_CALLS, usage: USAGE }];
  }
  return [
    start,
    { type: "text-start", id: "t" },
    { type: "text-delta", id: "t", delta: reply.text },
    { type: "text-end", id: "t" },
    { type: "finish", finishReason: STOP, usage: USAGE },
  ];
}

/** Part number `index` of a stream of `deltas` text deltas; `undefined` after the last. */
function deltaPart(index, deltas) {
  if (index >= 2 && index < deltas + 2) {
    return { type: "text-delta", id: "t", delta: DELTA };
  }
  switch (index) {
    case 0:
      return { type: "stream-start", warnings: [] };
    case 1:
      return { type: "text-start", id: "t" };
    case deltas + 2:
      return { type: "text-end", id: "t" };
    case deltas + 3:
      return { type: "finish", finishReason: STOP, usage: USAGE };
    default:
      return undefined;
  }
}

/** The deltas as a ReadableStream that makes a part when it is asked for one, as providers do. */
export function pulledStream(deltas) {
  let index = 0;
  return new ReadableStream({
    pull(controller) {
      const part = deltaPart(index++, deltas);
      if (part === undefined) {
        controller.close();
      } else {
        controller.enqueue(part);
      }
    },
  });
}

/** The deltas as a hand-written async iterator, whose hop costs a fifth of a ReadableStream's. */
export function iteratedStream(deltas) {
  let index = 0;
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next() {
      const value = deltaPart(index++, deltas);
      return Promise.resolve({ value, done: value === undefined });
    },
    return() {
      index = deltas + 4;
      return Promise.resolve({ value: undefined, done: true });
    },
  };
}
