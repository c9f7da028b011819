import { describe, expect, test } from "vitest";
import { adaptModel } from "./adapt-model.ts";
import type { LegacyModel, Model, ModelCallOptions, ModelStream, PromptMessage } from "./model.ts";
import { replyOf } from "./reply.ts";
import { readStream } from "./stream-reply.ts";

interface Legacy {
  readonly model: LegacyModel;
  /** The options it was called with. */
  readonly calls: ModelCallOptions[];
}

function legacy(version: "v2" | "v3", answer: { result?: object; stream?: ModelStream } = {}): Legacy {
  const calls: ModelCallOptions[] = [];
  const model: LegacyModel = {
    specificationVersion: version,
    provider: "old",
    modelId: "old-1",
    doGenerate: async (options: ModelCallOptions) => {
      calls.push(options);
      return { content: [{ type: "text", text: "hi" }], ...answer.result };
    },
    doStream: async (options: ModelCallOptions) => {
      calls.push(options);
      return { stream: answer.stream ?? ReadableStream.from([]) };
    },
  };
  return { model, calls };
}

const flatUsage = { inputTokens: 10, outputTokens: 5, totalTokens: 15, cachedInputTokens: 4, reasoningTokens: 2 };
const nestedUsage = { inputTokens: { total: 10, cacheRead: 4 }, outputTokens: { total: 5, reasoning: 2 } };
const versions = ["v2", "v3"] as const;

/** The prompt that a legacy model gets if the port gets this one. */
async function promptFor(version: "v2" | "v3", prompt: PromptMessage[]): Promise<unknown[]> {
  const { model, calls } = legacy(version);
  await adaptModel(model).doGenerate({ prompt });
  return calls[0]?.prompt ?? [];
}

describe("an agent accepts", () => {
  test("a V4 model unchanged", () => {
    const model = { specificationVersion: "v4" } as Model;
    expect(adaptModel(model)).toBe(model);
  });

  test.for(versions)("a %s model, which keeps its provider and id", (version) => {
    expect(adaptModel(legacy(version).model)).toMatchObject({
      specificationVersion: "v4",
      provider: "old",
      modelId: "old-1",
    });
  });

  test.for([
    ["a name", "gpt-5", 'found the text "gpt-5"'],
    ["nothing", undefined, "found undefined"],
    ["another object", {}, "found specificationVersion undefined"],
    ["an unknown generation", { specificationVersion: "v9" }, 'found specificationVersion "v9"'],
    ["a function", () => 1, "found function"],
  ] as const)("a model, not %s", ([, value, says]) => {
    expect(() => adaptModel(value as never)).toThrow(expect.objectContaining({ code: "unsupported-model" }));
    expect(() => adaptModel(value as never)).toThrow(says);
  });
});

describe("an adapted model gets", () => {
  test.for(versions)("settings and signal unchanged: %s", async (version) => {
    const { model, calls } = legacy(version);
    const { signal } = new AbortController();
    await adaptModel(model).doGenerate({ prompt: [], temperature: 0.5, abortSignal: signal });
    expect(calls[0]).toMatchObject({ temperature: 0.5 });
    expect(calls[0]?.abortSignal).toBe(signal);
  });

  test.for(versions)("text, calls and results unchanged: %s", async (version) => {
    const prompt: PromptMessage[] = [
      { role: "system", content: "s" },
      { role: "user", content: [{ type: "text", text: "hi" }] },
      { role: "assistant", content: [{ type: "tool-call", toolCallId: "c1", toolName: "f", input: {} }] },
      {
        role: "tool",
        content: [{ type: "tool-result", toolCallId: "c1", toolName: "f", output: { type: "text", value: "x" } }],
      },
    ];
    expect(await promptFor(version, prompt)).toEqual(prompt);
  });

  const url = new URL("https://example.com/a.png");
  const data = { type: "data", data: "AA==" } as const;

  test.for([
    ["base64", data, "AA=="],
    ["an address", { type: "url", url }, url],
    ["text", { type: "text", text: "hi" }, "aGk="],
    ["a reference", { type: "reference", reference: { openai: "file-1" } }, "file-1"],
  ] as const)("file data without its wrapper: %s", async ([, given, bare]) => {
    const file = { type: "file", mediaType: "image/png", data: given } as never;
    for (const version of versions) {
      const [message] = await promptFor(version, [{ role: "user", content: [file] }]);
      expect(message).toMatchObject({ content: [{ type: "file", mediaType: "image/png", data: bare }] });
    }
  });

  test("a full media type if only its first half is known", async () => {
    const file = { type: "file", mediaType: "image", data: { type: "url", url } } as const;
    const [message] = await promptFor("v2", [{ role: "user", content: [file] }]);
    expect(message).toMatchObject({ content: [{ mediaType: "image/*" }] });
  });

  test.for([
    ["v2", data, { type: "media", data: "AA==", mediaType: "image/png" }],
    ["v3", data, { type: "file-data", data: "AA==", mediaType: "image/png" }],
    ["v2", { type: "url", url }, { type: "text", text: url.href }],
    ["v3", { type: "url", url }, { type: "file-url", url: url.href }],
  ] as const)("a file in a tool result in the form of %s", async ([version, given, form]) => {
    const value = [
      { type: "text" as const, text: "see" },
      { type: "file" as const, mediaType: "image/png", data: given },
    ];
    const part = { type: "tool-result", toolCallId: "c1", toolName: "f", output: { type: "content", value } } as const;
    const [message] = await promptFor(version, [{ role: "tool", content: [part] }]);
    expect(message).toMatchObject({
      content: [{ output: { type: "content", value: [{ type: "text", text: "see" }, form] } }],
    });
  });

  test("a prompt of its own", async () => {
    const prompt: PromptMessage[] = [{ role: "user", content: [{ type: "file", mediaType: "image", data }] }];
    const before = structuredClone(prompt);
    await promptFor("v2", prompt);
    expect(prompt).toEqual(before);
  });
});

describe("an adapted model", () => {
  const { signal } = new AbortController();
  const deaf = { text: () => undefined, reasoning: () => undefined, toolInput: () => undefined };

  test("converts the finish reason and flat usage of V2 to the form of V4", async () => {
    const { model } = legacy("v2", { result: { finishReason: "stop", usage: flatUsage } });
    expect(await adaptModel(model).doGenerate({ prompt: [] })).toEqual({
      content: [{ type: "text", text: "hi" }],
      finishReason: { unified: "stop", raw: undefined },
      usage: nestedUsage,
    });
  });

  test("adds the cached tokens of Anthropic and Bedrock to the input, which V2 reports without them", async () => {
    const providerMetadata = { anthropic: { cacheCreationInputTokens: 3 } };
    const end = { finishReason: "stop", usage: flatUsage, providerMetadata };
    const usage = { inputTokens: 17, totalTokens: 22, cachedInputTokens: 4, cacheWriteTokens: 3 };
    const { model } = legacy("v2", { result: end, stream: ReadableStream.from([{ type: "finish", ...end }]) });
    expect(replyOf(await adaptModel(model).doGenerate({ prompt: [] })).usage).toMatchObject(usage);
    const { stream } = await adaptModel(model).doStream({ prompt: [] });
    expect((await readStream(stream, deaf, signal)).usage).toMatchObject(usage);
  });

  test("passes on the finish reason and usage of V3, which already have the form of V4", async () => {
    const given = { finishReason: { unified: "length", raw: "max" }, usage: nestedUsage };
    const { model } = legacy("v3", { result: given });
    expect(await adaptModel(model).doGenerate({ prompt: [] })).toMatchObject(given);
  });

  const parts = [
    { type: "text-delta", id: "0", delta: "hi" },
    { type: "finish", finishReason: "stop", usage: flatUsage },
  ];
  const iterable = async function* () {
    yield* parts;
  };
  test.for([
    ["a web stream", () => ReadableStream.from(parts)],
    ["an async iterable", iterable],
  ] as const)("converts the end of a stream to the form of V4: %s", async ([, open]) => {
    const { stream } = await adaptModel(legacy("v2", { stream: open() }).model).doStream({ prompt: [] });
    expect(await readStream(stream, deaf, signal)).toMatchObject({
      text: "hi",
      finishReason: "stop",
      usage: { totalTokens: 15, cachedInputTokens: 4, reasoningTokens: 2 },
    });
  });

  test("cancels the underlying stream if its stream is cancelled", async () => {
    let cancelledWith: unknown;
    const stream = new ReadableStream({
      start: (controller) => controller.enqueue({ type: "error", error: new Error("no") }),
      cancel(reason) {
        cancelledWith = reason;
      },
    });
    const opened = await adaptModel(legacy("v2", { stream }).model).doStream({ prompt: [] });
    await expect(readStream(opened.stream, deaf, signal)).rejects.toThrow("no");
    expect(cancelledWith).toBeInstanceOf(Error);
  });

  test("rejects with the original error", async () => {
    const error = new Error("refused");
    const { model } = legacy("v2");
    const failing = { ...model, doGenerate: () => Promise.reject(error) };
    await expect(adaptModel(failing).doGenerate({ prompt: [] })).rejects.toBe(error);
  });
});
