// The reply of a model call, generated or streamed, in one shape. Nothing in it has been checked.

import { isObject, type JsonValue } from "../base/json.ts";
import { messageOf } from "../errors.ts";
import type { Usage } from "../tokens/usage.ts";
import type { ModelContent, ModelResult, ModelUsage } from "./model.ts";
import type { ProviderData } from "./model-settings.ts";

/** A tool call as the model wrote it. */
export interface RequestedCall {
  readonly toolCallId: string;
  readonly toolName: string;
  /** JSON text; may be invalid. */
  readonly inputText: string;
}

/** One complete model reply. */
export interface ModelReply {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly RequestedCall[];
  /** The parts as the provider sent them, if they hold more than text and calls. */
  readonly parts: readonly JsonValue[] | undefined;
  readonly finishReason: string;
  readonly usage: Usage;
  /** The provider's id of the response, if it reported one. */
  readonly responseId?: string | undefined;
  /** The model that answered, if the provider reported it. */
  readonly modelId: string | undefined;
}

/** The reply of a model result. */
export function replyOf(
  result: Pick<ModelResult, "content" | "finishReason" | "usage" | "providerMetadata" | "response">,
): ModelReply {
  let [text, reasoning] = ["", ""];
  const calls: RequestedCall[] = [];
  let isPlain = true;
  for (const part of result.content) {
    const isOwnCall = part.type === "tool-call" && part.providerExecuted !== true;
    if (part.type === "text") text += part.text ?? "";
    if (part.type === "reasoning") reasoning += part.text ?? "";
    if (isOwnCall) calls.push(callOf(part));
    isPlain &&= isEmpty(part) || (part.providerMetadata === undefined && (part.type === "text" || isOwnCall));
  }
  return {
    text,
    reasoning,
    calls,
    parts: isPlain ? undefined : result.content.filter((part) => !isEmpty(part)).map(jsonPart),
    finishReason: textOr(result.finishReason?.unified, "other"),
    usage: usageOf(result.usage, result.providerMetadata),
    responseId: textOr(result.response?.id, undefined),
    modelId: textOr(result.response?.modelId, undefined),
  };
}

// Some providers leave empty blocks out of a stream, others do not.
function isEmpty(part: ModelContent): boolean {
  return part.text === "" && part.providerMetadata === undefined;
}

function callOf(part: ModelContent): RequestedCall {
  const { toolCallId, toolName, input } = part;
  return {
    toolCallId: textOr(toolCallId, ""),
    toolName: textOr(toolName, ""),
    inputText: typeof input === "string" ? input : inputTextOf(input ?? {}),
  };
}

// Input that JSON cannot represent becomes text that is not JSON: the model gets an error result, and the run continues.
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

/** The usage that a provider reported. Numbers it left out count as 0. */
export function usageOf(usage: ModelUsage | null | undefined, metadata?: ProviderData): Usage {
  const inputTokens = count(usage?.inputTokens?.total) ?? 0;
  const outputTokens = count(usage?.outputTokens?.total) ?? 0;
  const cachedInputTokens = count(usage?.inputTokens?.cacheRead);
  const cacheWriteTokens = count(usage?.inputTokens?.cacheWrite) ?? cacheWriteIn(metadata);
  const reasoningTokens = count(usage?.outputTokens?.reasoning);
  return {
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
    ...(cachedInputTokens !== undefined && { cachedInputTokens }),
    ...(cacheWriteTokens !== undefined && { cacheWriteTokens }),
    ...(reasoningTokens !== undefined && { reasoningTokens }),
  };
}

/** The tokens written to the cache by the metadata of a reply, for providers whose usage has no field for them. */
export function cacheWriteIn(metadata: unknown): number | undefined {
  const reports = Object.values(metadata ?? {})
    .filter(isObject)
    .flatMap(({ cacheCreationInputTokens, usage }) => {
      const { cacheWriteInputTokens, cache_creation_input_tokens } = isObject(usage) ? usage : {};
      return [cacheCreationInputTokens, cacheWriteInputTokens, cache_creation_input_tokens];
    });
  return reports.map(count).find((tokens) => tokens !== undefined);
}

function count(tokens: unknown): number | undefined {
  if (typeof tokens !== "number" || !Number.isFinite(tokens) || tokens < 0) return undefined;
  // Sums must stay numbers that JSON can represent.
  return Math.min(tokens, Number.MAX_SAFE_INTEGER);
}

// Turns the bytes of a generated file into base64, so that stored parts stay JSON. `value` is the result of `toJSON`, which a
// Buffer has too, so the bytes are read from `this`.
function jsonPart(part: ModelContent): JsonValue {
  const text = JSON.stringify(part, function (this: Record<string, unknown>, key, value) {
    const original = this[key];
    return original instanceof Uint8Array ? Buffer.from(original).toString("base64") : value;
  });
  return JSON.parse(text) as JsonValue;
}
