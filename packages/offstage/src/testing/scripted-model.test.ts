import { describe, expect, test } from "vitest";
import { assistant, system, toolCall, toolResult, user } from "../messages/makers.ts";
import type { Message } from "../messages/message.ts";
import type { ModelCallOptions, ModelStreamPart } from "../models/model.ts";
import { promptMessage } from "../models/prompt.ts";
import { replyOf } from "../models/reply.ts";
import { readStream } from "../models/stream-reply.ts";
import { type ScriptEntry, type ScriptedModel, scriptedModel } from "./scripted-model.ts";
import type { ScriptedReply } from "./scripted-reply.ts";

const asking = (...messages: readonly Message[]): ModelCallOptions => ({
  prompt: (messages.length > 0 ? messages : [user("hi")]).map((message) => promptMessage(message, () => "search")),
});
const calling = (...ids: readonly string[]): Message =>
  assistant(null, { toolCalls: ids.map((id) => toolCall(id, "search", { q: 1 })) });
const reply = async (entry: ScriptEntry) => replyOf(await scriptedModel([entry]).doGenerate(asking()));

async function streamed(model: ScriptedModel): Promise<ModelStreamPart[]> {
  const { stream } = await model.doStream(asking());
  const parts: ModelStreamPart[] = [];
  for await (const part of stream as AsyncIterable<ModelStreamPart>) parts.push(part);
  return parts;
}

describe("a reply is", () => {
  test("text", async () => {
    expect(await reply("hello")).toMatchObject({ text: "hello", calls: [], finishReason: "stop" });
  });

  test("an object with text, reasoning, calls, usage and finish reason", async () => {
    const usage = { inputTokens: 7, outputTokens: 3, cachedInputTokens: 2, cacheWriteTokens: 4, reasoningTokens: 1 };
    const made = await reply({
      ...{ text: "so", reasoning: "hm", usage, finishReason: "length" },
      toolCalls: [{ name: "search", input: { q: 1 }, id: "mine" }],
    });
    expect(made).toMatchObject({
      text: "so",
      reasoning: "hm",
      calls: [{ toolCallId: "mine", toolName: "search", inputText: '{"q":1}' }],
      usage: { ...usage, totalTokens: 10 },
      finishReason: "length",
    });
  });

  test("a call with invalid JSON, given as raw text", async () => {
    const { calls } = await reply({ toolCalls: [{ name: "search", arguments: '{"q":' }] });
    expect(calls[0]?.inputText).toBe('{"q":');
  });

  test("an error, which is thrown", async () => {
    const error = new Error("overloaded");
    await expect(reply(error)).rejects.toBe(error);
    await expect(streamed(scriptedModel([error]))).rejects.toBe(error);
  });

  test("a function of the request, which may be async", async () => {
    const model = scriptedModel([async ({ messages, index }) => `${index}: ${messages[0]?.content}`]);
    expect(replyOf(await model.doGenerate(asking(user("echo"))))).toMatchObject({ text: "0: echo" });
  });

  test("a function that returns an error", async () => {
    await expect(reply(() => new Error("no"))).rejects.toThrow("no");
  });
});

test("each call gets a unique id, and the finish reason is tool-calls", async () => {
  const model = scriptedModel(() => ({ toolCalls: [{ name: "a" }, { name: "b" }] }));
  const replies = [replyOf(await model.doGenerate(asking())), replyOf(await model.doGenerate(asking()))];
  const ids = replies.flatMap(({ calls }) => calls.map(({ toolCallId }) => toolCallId));
  expect(new Set(ids).size).toBe(4);
  expect(replies[0]?.finishReason).toBe("tool-calls");
});

test("one function can be the whole script", async () => {
  const model = scriptedModel(({ index }) => `reply ${index}`);
  await model.doGenerate(asking());
  expect(replyOf(await model.doGenerate(asking())).text).toBe("reply 1");
});

describe("a stream", () => {
  test("arrives word by word", async () => {
    const parts = await streamed(scriptedModel(["It is  sunny."]));
    expect(parts.map(({ type, delta }) => delta ?? type)).toEqual([
      "text-start",
      "It ",
      "is  ",
      "sunny.",
      "text-end",
      "finish",
    ]);
  });

  test("gives the same reply as doGenerate", async () => {
    const entry = { text: " so\n", reasoning: "hm hm", toolCalls: [{ name: "search", input: { q: "ä b" } }] };
    const generated = replyOf(await scriptedModel([entry]).doGenerate(asking()));
    const { stream } = await scriptedModel([entry]).doStream(asking());
    const deaf = { text: () => undefined, reasoning: () => undefined, toolInput: () => undefined };
    expect(await readStream(stream, deaf, new AbortController().signal)).toEqual(generated);
  });

  test("ends when the signal aborts", async () => {
    const controller = new AbortController();
    const { stream } = await scriptedModel(["one two three"]).doStream({ ...asking(), abortSignal: controller.signal });
    const reading = async () => {
      for await (const _ of stream as AsyncIterable<unknown>) controller.abort("enough");
    };
    await expect(reading()).rejects.toBe("enough");
  });
});

describe("requests", () => {
  test("are recorded as Offstage messages", async () => {
    const model = scriptedModel(["ok"]);
    const sent = [system("s"), user("hi"), calling("c1"), toolResult("c1", "found", { name: "search" })];
    await model.doGenerate({ ...asking(...sent), temperature: 0 });
    expect(model.requests[0]?.messages).toEqual(sent);
    expect(model.requests[0]).toMatchObject({ index: 0, options: { temperature: 0 } });
  });

  test("keep errors and images", async () => {
    const model = scriptedModel(["ok"]);
    const failed = toolResult("c1", "no", { name: "search", isError: true });
    const image = user([{ type: "image_url", image_url: { url: "data:image/png;base64,AA==" } }]);
    await model.doGenerate(asking(image, calling("c1"), failed));
    expect(model.requests[0]?.messages[2]).toEqual(failed);
    expect(model.requests[0]?.messages[0]?.content).toMatchObject([{ type: "file", mediaType: "image/png" }]);
  });

  test("may contain an assistant message with only an image", async () => {
    const model = scriptedModel(["ok"]);
    const image: Message = assistant([{ type: "image_url", image_url: { url: "data:image/png;base64,AA==" } }]);
    await model.doGenerate(asking(user("Draw."), image, user("Thanks.")));
    expect(model.requests[0]?.messages[1]?.content).toMatchObject([{ type: "file", mediaType: "image/png" }]);
  });

  test("are only counted with record: false", async () => {
    const model = scriptedModel(["ok"], { record: false });
    await model.doGenerate(asking());
    expect([model.requests.length, model.callCount]).toEqual([0, 1]);
  });

  test("after an abort are rejected with its reason", async () => {
    const model = scriptedModel(["ok"]);
    await expect(model.doGenerate({ ...asking(), abortSignal: AbortSignal.abort("gone") })).rejects.toBe("gone");
  });
});

describe("a request that a provider would refuse is rejected", () => {
  const refusals: readonly [string, readonly Message[]][] = [
    ["a call without its result", [user("hi"), calling("c1")]],
    ["a result without its call", [user("hi"), toolResult("c9", "found")]],
    ["a message between a call and its result", [calling("c1"), user("hi"), toolResult("c1", "found")]],
    ["one of two results missing", [calling("c1", "c2"), toolResult("c1", "found")]],
    ["two results of one call", [calling("c1"), toolResult("c1", "a"), toolResult("c1", "b")]],
    ["a reused id", [calling("c1"), toolResult("c1", "a"), calling("c1"), toolResult("c1", "b")]],
    ["an empty id", [calling(""), toolResult("", "found")]],
    ["an empty assistant message", [user("hi"), assistant("")]],
  ];

  test.for(refusals)("%s", async ([, messages]) => {
    const violation = expect.objectContaining({ code: "script-violation" });
    await expect(scriptedModel(["ok"]).doGenerate(asking(...messages))).rejects.toThrow(violation);
    await expect(scriptedModel(["ok"]).doStream(asking(...messages))).rejects.toThrow(violation);
  });

  test("no messages at all", async () => {
    await expect(scriptedModel(["ok"]).doGenerate({ prompt: [] })).rejects.toThrow("it has no messages");
  });

  test("with an outline of the request", async () => {
    const sent = asking(user("hi"), calling("c1", "c2"), toolResult("c1", "found"));
    await expect(scriptedModel(["ok"]).doGenerate(sent)).rejects.toThrow("user, assistant[c1 c2], tool(c1)");
  });
});

describe("an invalid script is refused", () => {
  const mistakes: readonly [unknown, string][] = [
    ["hello", 'A script must be a list of replies, or a function that returns them; found "hello".'],
    [
      ["fine", undefined],
      "script[1] must be text, { text, reasoning, toolCalls, usage, finishReason } or an Error, or a function that returns one of these; found undefined.",
    ],
    [[7], "script[0] must be text"],
    [[null], "found null"],
    [[["a"]], "found a list"],
    [[{ toolCall: [] }], 'script[0]: Unknown reply option "toolCall". Valid options: text, reasoning, toolCalls,'],
    [[{ text: 5 }], 'script[0]: "text" must be text; found 5.'],
    [[{ toolCalls: { name: "f" } }], 'script[0]: "toolCalls" must be a list of calls; found object.'],
    [[{ toolCalls: ["f"] }], 'script[0].toolCalls[0] must be a call such as { name, input }; found "f".'],
    [[{ toolCalls: [{ input: {} }] }], "script[0].toolCalls[0] must be a call"],
    [
      [{ toolCalls: [{ name: "f" }, { name: "f", args: {} }] }],
      'script[0].toolCalls[1]: Unknown reply option "args". Use "input" instead.',
    ],
    [[{ toolCalls: [{ name: "f", arguments: {} }] }], 'script[0].toolCalls[0]: "arguments" must be text'],
    [[{ usage: { input: 1 } }], 'script[0].usage: Unknown reply option "input". Use "inputTokens" instead.'],
    [[{ usage: 3 }], 'script[0]: "usage" must be an object; found 3.'],
    [[Promise.resolve("hi")], "script[0] must be text"],
  ];

  test.for(mistakes)("%j", ([script, sentence]) => {
    const refusal = expect.objectContaining({ code: "invalid-argument", message: expect.stringContaining(sentence) });
    expect(() => scriptedModel(script as ScriptEntry[])).toThrow(refusal);
  });

  test("and so is the value that a function returns", async () => {
    const model = scriptedModel(["fine", () => ({ txt: "no" }) as ScriptedReply]);
    await model.doGenerate(asking());
    await expect(model.doGenerate(asking())).rejects.toThrow(
      'the reply to request 2: Unknown reply option "txt". Valid options: text, ',
    );
    const silent = scriptedModel(async () => undefined as unknown as string);
    await expect(silent.doGenerate(asking())).rejects.toThrow("the reply to request 1 must be text");
  });

  test("undefined fields count as left out", async () => {
    expect(await reply({ text: "hello", usage: undefined } as unknown as ScriptedReply)).toMatchObject({
      text: "hello",
    });
  });
});

test("a request beyond the last entry is rejected", async () => {
  const model = scriptedModel(["only one"]);
  await model.doGenerate(asking());
  await expect(model.doGenerate(asking())).rejects.toThrow(
    expect.objectContaining({
      code: "script-exhausted",
      message: "The model was called 2 times and its script has 1 entry. Add a reply, or stop the run earlier.",
    }),
  );
});

test("provider and model id can be chosen", () => {
  const { modelId, provider } = scriptedModel([]);
  expect([modelId, provider]).toEqual(["scripted", "offstage"]);
  expect(scriptedModel([], { modelId: "m", provider: "p" })).toMatchObject({ modelId: "m", provider: "p" });
});

test.for([
  [{ recrod: false }, 'Unknown scriptedModel() option "recrod". Valid options: record, modelId, provider.'],
  [{ record: "no" }, '"record" must be true or false; found "no".'],
  [null, "The scriptedModel() options must be an object; found null."],
] as const)("invalid options are refused: %j", ([options, sentence]) => {
  expect(() => scriptedModel(["ok"], options as never)).toThrow(sentence);
});

test("an object without fields is an empty reply", async () => {
  for (const reply of [{}, Object.create(null)]) {
    const { content } = await scriptedModel([reply]).doGenerate(asking(user("Hi")));
    expect(content).toEqual([]);
  }
});
