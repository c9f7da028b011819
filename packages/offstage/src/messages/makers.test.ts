import { expect, test } from "vitest";
import { assistant, system, toolCall, toolResult, user } from "./makers.ts";
import { type AssistantMessage, textOf, toolCallsOf, withMetadata } from "./message.ts";

test("makers add nothing of their own", () => {
  expect([system("s"), user("u"), assistant("a"), toolResult("c1", "r")]).toStrictEqual([
    { role: "system", content: "s" },
    { role: "user", content: "u" },
    { role: "assistant", content: "a" },
    { role: "tool", tool_call_id: "c1", content: "r" },
  ]);
});

test("metadata travels with the message", () => {
  expect(user("u", { metadata: { id: "1" } })).toStrictEqual({ role: "user", content: "u", metadata: { id: "1" } });
});

test("an assistant message carries its calls, and no field if there are none", () => {
  const call = toolCall("c1", "search", { q: "x" });
  expect(assistant(null, { toolCalls: [call] })).toStrictEqual({
    role: "assistant",
    content: null,
    tool_calls: [call],
  });
  expect(assistant("x", { toolCalls: [] })).toStrictEqual({ role: "assistant", content: "x" });
});

test("a call's input is written as JSON text unless it is text already", () => {
  const texts = [toolCall("1", "f"), toolCall("2", "f", { a: 1 }), toolCall("3", "f", "{broken")];
  expect(texts.map((call) => call.function.arguments)).toEqual(["{}", '{"a":1}', "{broken"]);
});

test("a failed result is marked, beside the metadata it had", () => {
  const made = toolResult("c1", "no", { name: "search", isError: true, metadata: { step: 1 } });
  expect(made).toStrictEqual({
    role: "tool",
    tool_call_id: "c1",
    name: "search",
    content: "no",
    metadata: { step: 1, isError: true },
  });
});

test("the text of a message is its string, its text parts joined, or nothing", () => {
  const parts = [{ type: "text", text: "a" }, { type: "image_url" }, { type: "refusal", refusal: "no" }, "bare", null];
  expect([textOf(user("x")), textOf({ content: parts }), textOf({ content: null }), textOf({})]).toEqual([
    "x",
    "anobare",
    "",
    "",
  ]);
  expect([textOf(undefined), textOf(null)]).toEqual(["", ""]);
});

test("the calls of a message are empty if they are missing, null or no list", () => {
  const absent = [assistant("x"), { role: "assistant", content: "x", tool_calls: null } as const, user("x")];
  const odd = { role: "assistant", content: "x", tool_calls: "none" } as unknown as AssistantMessage;
  expect([...absent, odd].map(toolCallsOf)).toEqual([[], [], [], []]);
});

test("withMetadata keeps entries that are not named again", () => {
  const message = user("x", { metadata: { id: "1", step: 1 } });
  expect(withMetadata(message, { step: 2 }).metadata).toEqual({ id: "1", step: 2 });
  expect(message.metadata).toEqual({ id: "1", step: 1 });
});

test("the calls of assistant() may be called as in a message", () => {
  const calls = [toolCall("c", "search")];
  expect(assistant("x", { tool_calls: calls })).toEqual(assistant("x", { toolCalls: calls }));
  expect(assistant("x", { tool_calls: null })).toStrictEqual(assistant("x"));
});

test("makers take parts of unknown types", () => {
  const part = { type: "video", seconds: 3 };
  expect(user([part]).content).toEqual([part]);
});

test("makers refuse unknown options", () => {
  expect(() => user("x", { metdata: {} } as object)).toThrow(
    'Unknown user message option "metdata". Valid options: metadata.',
  );
  expect(() => toolResult("c1", "x", { error: true } as object)).toThrow(
    'Unknown tool result option "error". Valid options: metadata, name, isError.',
  );
});

test("an input that JSON cannot hold is refused with a sentence", () => {
  expect(() => toolCall("c1", "search", { n: 1n })).toThrow(
    /^The input of the call of "search" cannot be written as JSON: /,
  );
});
