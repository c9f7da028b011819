// The reply: what a model call gave, generated or streamed, in one shape. Nothing of it is trusted yet.

import type { JsonValue } from "../base/json.ts";
import type { Mutable } from "../base/mutable.ts";
import { messageOf } from "../errors.ts";
import { noUsage, type Usage } from "../tokens/usage.ts";
import type { ModelContent, ModelResult, ModelUsage } from "./model.ts";

/** A tool call as the model wrote it. */
export interface RequestedCall {
  readonly toolCallId: string;
  readonly toolName: string;
  /** JSON text, perhaps broken. */
  readonly inputText: string;
}

/** One whole model reply. */
export interface ModelReply {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly RequestedCall[];
  /** The parts themselves, where they hold more than text and calls. */
  readonly parts: readonly JsonValue[] | undefined;
  readonly finishReason: string;
  readonly usage: Usage;
  /** The model that answered, where the provider says so. */
  readonly modelId: string | undefined;
}

/** The reply of a model result. */
export function replyOf(result: Pick<ModelResult, "content" | "finishReason" | "usage" | "response">): ModelReply {
  let text = "";
  let reasoning = "";
  let isPlain = true;
  const calls: RequestedCall[] = [];
  const { content } = result;
  for (let i = 0; i < content.length; i++) {
    const part = content[i] as ModelContent;
    if (!saysSomething(part)) continue;
    if (part.type === "text") text += part.text ?? "";
    else if (part.type === "tool-call" && part.providerExecuted !== true) calls.push(callOf(part));
    else isPlain = false;
    if (part.type === "reasoning") reasoning += part.text ?? "";
    if (part.providerMetadata !== undefined) isPlain = false;
  }
  return {
    text,
    reasoning,
    calls,
    parts: isPlain ? undefined : result.content.filter(saysSomething).map(jsonPart),
    finishReason: textOr(result.finishReason?.unified, "other"),
    usage: usageOf(result.usage),
    modelId: textOr(result.response?.modelId, undefined),
  };
}

// An empty block is nothing, whether a provider leaves it out of a stream or not.
function saysSomething(part: ModelContent): boolean {
  return part.text !== "" || part.providerMetadata !== undefined;
}

function callOf(part: ModelContent): RequestedCall {
  const { toolCallId, toolName, input } = part;
  return {
    toolCallId: textOr(toolCallId, ""),
    toolName: textOr(toolName, ""),
    inputText: typeof input === "string" ? input : inputTextOf(input ?? {}),
  };
}

// What cannot be written as JSON becomes text that cannot be read as JSON: the model is told so, and the run goes on.
function inputTextOf(input: unknown): string {
  try {
    return JSON.stringify(input) ?? `[${typeof input}]`;
  } catch (error) {
    return `[${messageOf(error)}]`;
  }
}

function textOr<Other>(value: unknown, other: Other): string | Other {
  return typeof value === "string" ? value : other;
}

/** The usage of a provider's report; what it left out counts as nothing. */
export function usageOf(usage: ModelUsage | null | undefined): Usage {
  if (usage === undefined || usage === null) return noUsage;
  const inputTokens = count(usage.inputTokens?.total) ?? 0;
  const outputTokens = count(usage.outputTokens?.total) ?? 0;
  const sum: Mutable<Usage> = {
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
  };
  const cached = count(usage.inputTokens?.cacheRead);
  if (cached !== undefined) sum.cachedInputTokens = cached;
  const reasoning = count(usage.outputTokens?.reasoning);
  if (reasoning !== undefined) sum.reasoningTokens = reasoning;
  return sum;
}

function count(tokens: unknown): number | undefined {
  if (typeof tokens !== "number" || !Number.isFinite(tokens) || tokens < 0) return undefined;
  // Sums must stay numbers that JSON can hold.
  return Math.min(tokens, Number.MAX_SAFE_INTEGER);
}

// The bytes of a generated file become base64, so that what is held stays JSON. A Buffer has turned itself into something
// else by the time its value is handed in, so it is read from where it stands.
function jsonPart(part: ModelContent): JsonValue {
  const text = JSON.stringify(part, function (this: Record<string, unknown>, key, value) {
    const held = this[key];
    return held instanceof Uint8Array ? Buffer.from(held).toString("base64") : value;
  });
  return JSON.parse(text) as JsonValue;
}
