// Adapts models of the AI SDK's second and third generation to the port. V4 models need no adapter.

import { isObject } from "../base/json.ts";
import { shownValue } from "../base/options.ts";
import { OffstageError } from "../errors.ts";
import type {
  AnyModel,
  LegacyModel,
  Model,
  ModelCallOptions,
  ModelResult,
  ModelStream,
  PromptMessage,
} from "./model.ts";
import { cacheWriteIn } from "./reply.ts";

type Fields = Record<string, unknown>;

/** The given model as a `Model`. Throws `unsupported-model` if it is not a language model. */
export function adaptModel(model: AnyModel): Model {
  const version = isObject(model) ? (model as AnyModel).specificationVersion : undefined;
  if (version === "v4") return model as Model;
  if (version === "v3" || version === "v2") return adaptLegacy(model as LegacyModel);
  const given = typeof model === "string" ? `the text "${model}"` : shownValue(model);
  const found = isObject(model) ? `specificationVersion ${JSON.stringify(version) ?? "undefined"}` : given;
  throw new OffstageError(
    "unsupported-model",
    `"model" must be a language model object of an AI SDK provider (v2, v3 or v4); found ${found}. Create one, for instance createOpenAICompatible({ name, baseURL }).chatModel("…").`,
  );
}

function adaptLegacy(model: LegacyModel): Model {
  const isV2 = model.specificationVersion === "v2";
  const call = (options: ModelCallOptions) => ({
    ...options,
    prompt: options.prompt.map(legacyMessage(isV2)),
    ...(isV2 && options.tools !== undefined && { tools: options.tools.map(legacyTool) }),
  });
  return {
    specificationVersion: "v4",
    provider: model.provider,
    modelId: model.modelId,
    ...(model.supportedUrls !== undefined && { supportedUrls: model.supportedUrls }),
    doGenerate: async (options) => currentResult((await model.doGenerate(call(options))) as Fields),
    doStream: async (options) => {
      const { stream } = await model.doStream(call(options));
      return { stream: mapStream(stream, currentPart) };
    },
  };
}

// Older generations take file data untagged, and V2 names a file in a tool result "media".
function legacyMessage(isV2: boolean): (message: PromptMessage) => Fields {
  return (message) => {
    if (message.role === "system") return { ...message };
    if (message.role !== "tool") return { ...message, content: message.content.map(legacyPart) };
    return {
      ...message,
      content: message.content.map((part) => ({ ...part, output: legacyOutput(part.output, isV2) })),
    };
  };
}

function legacyTool(tool: NonNullable<ModelCallOptions["tools"]>[number]): object {
  return tool.type === "provider" ? { ...tool, type: "provider-defined" } : tool;
}

// They also require a full media type: "image" alone becomes "image/*".
function legacyPart(part: object): object {
  const { type, data, mediaType } = part as Fields;
  if (type !== "file" && type !== "reasoning-file") return part;
  const whole = String(mediaType).includes("/") ? mediaType : `${mediaType}/*`;
  return { ...part, data: bareData(data), mediaType: whole };
}

function bareData(data: unknown): unknown {
  if (!isObject(data)) return data;
  if (data.type === "text") return Buffer.from(String(data.text)).toString("base64");
  if (data.type === "reference") return Object.values(data.reference as Fields)[0];
  return data.type === "url" ? data.url : data.data;
}

function legacyOutput(output: { type: string; value: unknown }, isV2: boolean): object {
  if (output.type !== "content") return output;
  const value = (output.value as Fields[]).map((part) => (part.type === "file" ? legacyFile(part, isV2) : part));
  return { ...output, value };
}

function legacyFile({ data, mediaType }: Fields, isV2: boolean): Fields {
  const bare = bareData(data);
  if (bare instanceof URL) return isV2 ? { type: "text", text: bare.href } : { type: "file-url", url: bare.href };
  return { type: isV2 ? "media" : "file-data", data: bare, mediaType };
}

function currentResult(result: Fields): ModelResult {
  return {
    ...result,
    finishReason: currentFinish(result.finishReason),
    usage: currentUsage(result),
  } as ModelResult;
}

function currentPart(part: unknown): unknown {
  if (!isObject(part) || part.type !== "finish") return part;
  return { ...part, finishReason: currentFinish(part.finishReason), usage: currentUsage(part) };
}

function currentFinish(reason: unknown): unknown {
  return typeof reason === "string" ? { unified: reason, raw: undefined } : reason;
}

// V2 reports flat numbers, and tokens written to a cache only as metadata. The providers that do so (Anthropic, Bedrock) leave all
// cached tokens out of the input.
function currentUsage({ usage, providerMetadata }: Fields): unknown {
  if (!isObject(usage) || isObject(usage.inputTokens)) return usage;
  const { inputTokens, cachedInputTokens: cacheRead } = usage;
  const cacheWrite = cacheWriteIn(providerMetadata);
  const total = cacheWrite === undefined ? inputTokens : sum(inputTokens, cacheRead, cacheWrite);
  return {
    inputTokens: { total, cacheRead, ...(cacheWrite !== undefined && { cacheWrite }) },
    outputTokens: { total: usage.outputTokens, reasoning: usage.reasoningTokens },
  };
}

function sum(...counts: readonly unknown[]): number {
  return counts.reduce<number>((total, count) => total + (Number(count) || 0), 0);
}

/** The stream with each part changed. */
export function mapStream(stream: ModelStream, change: (part: unknown) => unknown): ModelStream {
  if (!("getReader" in stream)) return mapIterable(stream, change);
  const reader = stream.getReader();
  return {
    getReader: () => ({
      read: async () => {
        const { done, value } = await reader.read();
        return done ? { done } : { done, value: change(value) };
      },
      cancel: (reason) => reader.cancel(reason),
    }),
  };
}

async function* mapIterable(
  stream: AsyncIterable<unknown>,
  change: (part: unknown) => unknown,
): AsyncGenerator<unknown> {
  for await (const part of stream) yield change(part);
}
