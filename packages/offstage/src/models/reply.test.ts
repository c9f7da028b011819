import { describe, expect, test } from "vitest";
import type { ModelContent, ModelResult } from "./model.ts";
import { replyOf, usageOf } from "./reply.ts";

const result = (content: readonly ModelContent[], changes: Partial<ModelResult> = {}): ModelResult => ({
  content,
  finishReason: { unified: "stop" },
  usage: { inputTokens: { total: 10 }, outputTokens: { total: 5 } },
  ...changes,
});
const call = (fields: Partial<ModelContent> = {}): ModelContent => ({
  type: "tool-call",
  toolCallId: "c1",
  toolName: "search",
  input: '{"q":1}',
  ...fields,
});

describe("a reply", () => {
  test("has the joined text, the calls and the finish reason", () => {
    const content = [{ type: "text", text: "let me " }, { type: "text", text: "look" }, call()];
    expect(replyOf(result(content, { response: { modelId: "m-2" } }))).toEqual({
      text: "let me look",
      reasoning: "",
      calls: [{ toolCallId: "c1", toolName: "search", inputText: '{"q":1}' }],
      parts: undefined,
      finishReason: "stop",
      usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
      modelId: "m-2",
    });
  });

  test("keeps its parts in order if there is reasoning", () => {
    const content = [
      { type: "reasoning", text: "hm" },
      { type: "text", text: "so" },
    ];
    expect(replyOf(result(content))).toMatchObject({ reasoning: "hm", text: "so", parts: content });
  });

  test("keeps its parts if one has metadata of the provider", () => {
    const content = [{ type: "text", text: "so", providerMetadata: { openai: { itemId: "i" } } }];
    expect(replyOf(result(content)).parts).toEqual(content);
  });

  test("keeps parts of an unknown type", () => {
    expect(replyOf(result([{ type: "hologram", text: "x" }]))).toMatchObject({
      text: "",
      parts: [{ type: "hologram" }],
    });
  });

  test("does not ask for calls that the provider ran itself", () => {
    const reply = replyOf(result([call({ providerExecuted: true })]));
    expect([reply.calls, reply.parts?.length]).toEqual([[], 1]);
  });

  test.for([Uint8Array.of(1, 2), Buffer.from([1, 2])])("keeps bytes as base64", (data) => {
    const file = { type: "file", mediaType: "image/png", data: { type: "data", data } } as ModelContent;
    expect(replyOf(result([file])).parts).toMatchObject([{ data: { data: "AQI=" } }]);
  });

  test("survives JSON", () => {
    const reply = replyOf(
      result([{ type: "reasoning", text: "hm", providerMetadata: { a: { b: undefined } } }, call()]),
    );
    expect(JSON.parse(JSON.stringify(reply.parts))).toEqual(reply.parts);
  });

  test("has a finish reason even if the provider gave none", () => {
    expect(replyOf(result([], { finishReason: undefined as never })).finishReason).toBe("other");
  });
});

describe("a call is not trusted", () => {
  test("missing ids and names are empty", () => {
    const [made] = replyOf(result([{ type: "tool-call" }])).calls;
    expect(made).toEqual({ toolCallId: "", toolName: "", inputText: "{}" });
  });

  test("invalid JSON is kept as it is", () => {
    expect(replyOf(result([call({ input: '{"q":' })])).calls[0]?.inputText).toBe('{"q":');
  });

  test("input that is an object becomes text", () => {
    expect(replyOf(result([call({ input: { q: 1 } })])).calls[0]?.inputText).toBe('{"q":1}');
  });
});

test("input that JSON cannot represent becomes text that is not JSON", () => {
  const circular: { self?: unknown } = {};
  circular.self = circular;
  for (const input of [circular, { big: 1n }, () => 1, Symbol("s")]) {
    const [made] = replyOf(result([call({ input })])).calls;
    expect(() => JSON.parse(made?.inputText as string)).toThrow(SyntaxError);
  }
});

test("a finish reason or model id that is not text is ignored", () => {
  for (const odd of [7, {}, Symbol("s"), null]) {
    const reply = replyOf(result([], { finishReason: { unified: odd as never }, response: { modelId: odd as never } }));
    expect(reply).toMatchObject({ finishReason: "other", modelId: undefined });
  }
});

describe("usage", () => {
  test("of absurd size still sums to a number that JSON can represent", () => {
    const usage = usageOf({ inputTokens: { total: 1.7e308 }, outputTokens: { total: 1.7e308 } });
    expect(JSON.parse(JSON.stringify(usage))).toEqual(usage);
  });

  test("has cached, written and reasoning tokens if they were reported", () => {
    const inputTokens = { total: 10, cacheRead: 4, cacheWrite: 3 };
    expect(usageOf({ inputTokens, outputTokens: { total: 5, reasoning: 2 } })).toEqual({
      inputTokens: 10,
      outputTokens: 5,
      totalTokens: 15,
      cachedInputTokens: 4,
      cacheWriteTokens: 3,
      reasoningTokens: 2,
    });
  });

  test.for([
    [{ anthropic: { cacheCreationInputTokens: 3 } }],
    [{ anthropic: { cacheCreationInputTokens: null, usage: { cache_creation_input_tokens: 3 } } }],
    [{ gateway: { cost: "0.1" }, bedrock: { usage: { cacheWriteInputTokens: 3 } } }],
  ])("has the tokens written to the cache that only the metadata reports: %j", ([providerMetadata]) => {
    const { usage } = replyOf(result([], { providerMetadata: providerMetadata as never }));
    expect(usage).toEqual({ inputTokens: 10, outputTokens: 5, totalTokens: 15, cacheWriteTokens: 3 });
  });

  test.for([
    [{ anthropic: { cacheCreationInputTokens: "3", usage: null } }],
    [{ anthropic: null, bedrock: { usage: { cacheWriteInputTokens: -1 } } }],
  ])("has no written tokens if the metadata has no number of them: %j", ([providerMetadata]) => {
    const { usage } = replyOf(result([], { providerMetadata: providerMetadata as never }));
    expect(usage).toEqual({ inputTokens: 10, outputTokens: 5, totalTokens: 15 });
  });

  test.for([
    [undefined],
    [null],
    [{}],
    [{ inputTokens: {}, outputTokens: {} }],
    [{ inputTokens: { total: Number.NaN } }],
  ])("%j counts as 0 tokens", ([usage]) => {
    expect(usageOf(usage as never)).toEqual({ inputTokens: 0, outputTokens: 0, totalTokens: 0 });
  });
});
