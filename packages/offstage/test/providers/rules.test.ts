// The fake servers refuse what the real ones refuse. Otherwise, passing them would prove nothing.
import { describe, expect, test } from "vitest";
import { anthropicRules } from "./anthropic-rules.ts";
import { bedrockProblem } from "./bedrock-rules.ts";
import type { Json } from "./fake-provider.ts";
import { googleProblem } from "./google-rules.ts";
import { mistralProblem } from "./mistral-rules.ts";
import { ollamaProblem } from "./ollama-rules.ts";
import { openAIProblem } from "./openai-rules.ts";
import { responsesRules } from "./responses-rules.ts";

const call = (id: string, text: unknown = "{}") => ({ id, type: "function", function: { name: "f", arguments: text } });
const asks = (...ids: string[]) => ({ role: "assistant", content: null, tool_calls: ids.map((id) => call(id)) });
const answers = (id: string) => ({ role: "tool", tool_call_id: id, content: "ok" });
const says = (content: unknown) => ({ role: "user", content });
const headers = { authorization: "Bearer key", "x-api-key": "key", "anthropic-version": "2023-06-01" };

describe("OpenAI", () => {
  const problemOf = (...messages: Json[]) => openAIProblem({ body: { model: "m", messages }, headers, at: 0 });

  test("a valid conversation is accepted", () => {
    const broken = problemOf(says("hi"), asks("a", "b"), answers("b"), answers("a"), {
      role: "assistant",
      content: "ok",
    });
    expect(broken).toBeUndefined();
  });

  test.each<[string, Json[]]>([
    ["no messages", []],
    ["a call without a result", [says("hi"), asks("a")]],
    ["one of two calls without a result", [asks("a", "b"), answers("a"), says("hi")]],
    ["a user message between call and result", [asks("a"), says("hi"), answers("a")]],
    ["a result without a call", [says("hi"), answers("a")]],
    ["a second result for a call", [asks("a"), answers("a"), answers("a")]],
    ["the same id twice", [asks("a", "a"), answers("a"), answers("a")]],
    ["an empty id", [asks(""), answers("")]],
    ["arguments that are not text", [{ role: "assistant", tool_calls: [call("a", {})] }, answers("a")]],
    ["arguments that are not JSON", [{ role: "assistant", tool_calls: [call("a", "{")] }, answers("a")]],
    ["an assistant message with neither content nor calls", [{ role: "assistant", content: null }]],
    ["an unknown field", [{ ...says("hi"), metadata: {} }]],
    ["an invalid image", [says([{ type: "image_url", image_url: { url: "data:image/png;base64,[object" } }])]],
  ])("%s is refused", (_, messages) => {
    expect(problemOf(...messages)).toEqual(expect.any(String));
  });
});

describe("Anthropic", () => {
  const use = (id: string) => ({ type: "tool_use", id, name: "f", input: {} });
  const result = (id: string) => ({ type: "tool_result", tool_use_id: id, content: "ok" });
  const thinking = { type: "thinking", thinking: "hm", signature: "S" };
  const hi = { type: "text", text: "hi" };
  const problemOf = (...contents: Json[][]) => {
    const rules = anthropicRules();
    rules.remember([thinking, use("t")]);
    const messages = contents.map((content, index) => ({ role: index % 2 === 0 ? "user" : "assistant", content }));
    return rules.problem({ body: { messages, max_tokens: 1, tools: [] }, headers, at: 0 });
  };

  test("a valid conversation is accepted", () => {
    expect(problemOf([hi], [hi, use("a"), use("b")], [result("b"), result("a"), hi], [hi], [hi])).toBeUndefined();
    expect(problemOf([hi], [thinking, use("t")], [result("t")])).toBeUndefined();
  });

  test.each<[string, Json[][]]>([
    ["no messages", []],
    ["an assistant message at the end", [[hi], [hi]]],
    ["a message without content", [[hi], [], [hi]]],
    ["a call without a result", [[hi], [use("a")], [hi]]],
    ["one of two calls without a result", [[hi], [use("a"), use("b")], [result("a")]]],
    ["a result after text", [[hi], [use("a")], [hi, result("a")]]],
    ["a result without a call", [[hi], [hi], [result("a")]]],
    ["an id that was used before", [[hi], [use("a")], [result("a")], [use("a")], [result("a")]]],
    ["an id with a dot", [[hi], [use("a.b")], [result("a.b")]]],
    ["input that is text", [[hi], [{ ...use("a"), input: "{}" }], [result("a")]]],
    ["blank text", [[hi], [{ type: "text", text: "\n" }], [hi]]],
    ["thinking that was left out", [[hi], [use("t")], [result("t")]]],
    ["thinking that was changed", [[hi], [{ ...thinking, thinking: "other" }, use("t")], [result("t")]]],
    ["thinking after its call", [[hi], [use("t"), thinking], [result("t")]]],
    ["thinking without a signature", [[hi], [{ ...thinking, signature: "" }, use("x")], [result("x")]]],
  ])("%s is refused", (_, contents) => {
    expect(problemOf(...contents)).toEqual(expect.any(String));
  });
});

describe("Google", () => {
  const turn = (role: string, ...parts: Json[]) => ({ role, parts });
  const calls = { functionCall: { name: "f", args: {} } };
  const responds = { functionResponse: { name: "f", response: {} } };
  const hi = { text: "hi" };
  const problemOf = (...contents: Json[]) =>
    googleProblem({ body: { contents }, headers: { "x-goog-api-key": "key" }, at: 0 });

  test("a valid conversation is accepted", () => {
    const contents = [turn("user", hi), turn("model", calls, calls), turn("user", responds, responds)];
    expect(problemOf(...contents)).toBeUndefined();
  });

  test.each<[string, Json[]]>([
    [
      "separate messages for the results of one turn",
      [turn("user", hi), turn("model", calls, calls), turn("user", responds), turn("user", responds)],
    ],
    ["a model turn in front", [turn("model", hi), turn("user", hi)]],
    ["a call after a model turn", [turn("user", hi), turn("model", hi), turn("model", calls), turn("user", responds)]],
    ["an unknown role", [turn("system", hi)]],
    ["empty text", [turn("user", { text: "" })]],
    ["a media type without detail", [turn("user", { inlineData: { mimeType: "image/*", data: "AA==" } })]],
    [
      "a function name that begins with a digit",
      [turn("user", hi), turn("model", { functionCall: { name: "3d" } }), turn("user", responds)],
    ],
  ])("%s is refused", (_, contents) => {
    expect(problemOf(...contents)).toEqual(expect.any(String));
  });
});

describe("Mistral", () => {
  const id = "abcDEF123";
  const answered = (callId: string) => ({ ...answers(callId), name: "f" });
  const problemOf = (...messages: Json[]) => mistralProblem({ body: { messages }, headers, at: 0 });

  test("a valid conversation is accepted", () => {
    const said = { role: "assistant", content: "ok" };
    expect(problemOf(says("hi"), asks(id), answered(id), said, says("more"))).toBeUndefined();
  });

  test.each<[string, Json[]]>([
    ["a user message after a result", [says("hi"), asks(id), answered(id), says("more")]],
    [
      "a system message after an assistant message",
      [says("hi"), { role: "assistant", content: "ok" }, { role: "system", content: "s" }, says("hi")],
    ],
    ["an id of another form", [says("hi"), asks("call_1"), answered("call_1")]],
    ["a call without a result", [says("hi"), asks(id), says("more")]],
    ["an assistant message at the end", [says("hi"), { role: "assistant", content: "ok" }]],
    ["audio", [says([{ type: "input_audio" }])]],
  ])("%s is refused", (_, messages) => {
    expect(problemOf(...messages)).toEqual(expect.any(String));
  });
});

describe("Bedrock", () => {
  const use = (toolUseId: string) => ({ toolUse: { toolUseId, name: "f", input: {} } });
  const result = (toolUseId: string) => ({ toolResult: { toolUseId, content: [{ text: "ok" }] } });
  const hi = { text: "hi" };
  const problemOf = (first: string, ...contents: Json[][]) => {
    const roles = first === "user" ? ["user", "assistant"] : ["assistant", "user"];
    const messages = contents.map((content, index) => ({ role: roles[index % 2], content }));
    return bedrockProblem({ body: { messages, toolConfig: {} }, headers, at: 0 });
  };

  test("a valid conversation is accepted", () => {
    expect(problemOf("user", [hi], [use("a"), use("b")], [result("b"), result("a"), hi])).toBeUndefined();
  });

  test.each<[string, string, Json[][]]>([
    ["an assistant message in front", "assistant", [[hi], [hi]]],
    ["an assistant message at the end", "user", [[hi], [hi]]],
    ["blank text", "user", [[{ text: " " }]]],
    ["a call without a result", "user", [[hi], [use("a"), use("b")], [result("a")]]],
    ["an invalid id", "user", [[hi], [use("a.b")], [result("a.b")]]],
    ["a document without text", "user", [[{ document: { format: "pdf", source: { bytes: "AA==" } } }]]],
    ["an image of an unknown format", "user", [[{ image: { format: "bmp", source: { bytes: "AA==" } } }]]],
  ])("%s is refused", (_, first, contents) => {
    expect(problemOf(first, ...contents)).toEqual(expect.any(String));
  });
});

describe("OpenAI, responses", () => {
  const called = (call_id: string) => ({ type: "function_call", call_id, name: "f", arguments: "{}" });
  const output = (call_id: string) => ({ type: "function_call_output", call_id, output: "ok" });
  const problemOf = (...input: Json[]) => {
    const rules = responsesRules();
    rules.remember([{ ...called("known"), id: "fc_1" }]);
    return rules.problem({ body: { input }, headers, at: 0 });
  };

  test("a valid conversation is accepted, with references to items of the server", () => {
    expect(
      problemOf(says("hi"), { type: "item_reference", id: "fc_1" }, called("a"), output("known"), output("a")),
    ).toBeUndefined();
  });

  test.each<[string, Json[]]>([
    ["a call without an output", [called("a")]],
    ["an output without a call", [output("a")]],
    ["a reference to an unknown item", [{ type: "item_reference", id: "fc_2" }]],
    ["an id of 65 characters", [called("a".repeat(65)), output("a".repeat(65))]],
    ["audio", [says([{ type: "input_audio" }])]],
  ])("%s is refused", (_, input) => {
    expect(problemOf(...input)).toEqual(expect.any(String));
  });
});

describe("Ollama", () => {
  const problemOf = (...messages: Json[]) => ollamaProblem({ body: { model: "m", messages }, headers, at: 0 });

  test("a valid conversation is accepted", () => {
    expect(problemOf({ ...says("hi"), images: ["AA=="] }, { role: "assistant", content: "ok" })).toBeUndefined();
  });

  test.each<[string, Json[]]>([
    ["content that is not text", [says([])]],
    ["a URL as an image", [{ ...says("hi"), images: ["https://example.com/a.png"] }]],
    [
      "arguments as text",
      [{ role: "assistant", content: "", tool_calls: [{ function: { name: "f", arguments: "{}" } }] }],
    ],
  ])("%s is refused", (_, messages) => {
    expect(problemOf(...messages)).toEqual(expect.any(String));
  });
});
