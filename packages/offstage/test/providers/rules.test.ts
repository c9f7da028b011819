// The fake servers refuse what the real ones refuse. Otherwise, passing them would prove nothing.
import { describe, expect, test } from "vitest";
import { anthropicRules } from "./anthropic-rules.ts";
import type { Json } from "./fake-provider.ts";
import { openAIProblem } from "./openai-rules.ts";

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
