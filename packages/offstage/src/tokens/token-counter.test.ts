import { describe, expect, test, vi } from "vitest";
import type { Message } from "../messages/message.ts";
import { estimateTokens } from "./estimate.ts";
import { tokenCounter } from "./token-counter.ts";

const user = (content: unknown): Message => ({ role: "user", content }) as Message;

describe("the default counter", () => {
  const counter = tokenCounter();

  test("estimates, with estimated: true", () => {
    expect(counter.estimated).toBe(true);
    expect(counter.count("Hello, world!")).toBe(estimateTokens("Hello, world!"));
  });

  test("adds the overhead of a message to its text", () => {
    expect(counter.countMessage(user(""))).toBe(4);
    expect(counter.countMessage({ role: "tool", tool_call_id: "c", name: "f", content: "" })).toBe(
      4 + 1 + counter.count("f"),
    );
  });

  test("counts a list as the sum of its messages", () => {
    const list = [user("one"), user("two and three")];
    expect(counter.countMessages(list)).toBe(
      counter.countMessage(list[0] as Message) + counter.countMessage(list[1] as Message),
    );
    expect(counter.countMessages([])).toBe(0);
  });

  test("counts 0 for values that are not messages", () => {
    for (const odd of [null, undefined, 5, "text"]) expect(counter.countMessage(odd as unknown as Message)).toBe(0);
  });
});

describe("a custom counter", () => {
  const byLength = (text: string) => text.length;

  test("is refused with a sentence if it cannot count", () => {
    const make = (counting: unknown) => () => tokenCounter(counting as { count: typeof byLength });
    expect(make(null)).toThrow("A token counter must be an object with count(text); found null.");
    expect(make("gpt-4o")).toThrow('A token counter must be an object with count(text); found "gpt-4o".');
    expect(make({})).toThrow("A token counter must be an object with count(text); found object.");
    expect(make({ count: byLength, countMessage: 5 })).toThrow('"countMessage" is 5.');
  });

  test("needs only to count text", () => {
    const counter = tokenCounter({ count: byLength });
    expect(counter.estimated).toBe(false);
    expect(counter.countMessage(user("hello"))).toBe(4 + 5);
    const call = { id: "c", type: "function" as const, function: { name: "abc", arguments: "{}" } };
    expect(counter.countMessage({ role: "assistant", content: null, tool_calls: [call] })).toBe(4 + 3 + 3 + 2);
  });

  test("counts the text of parts, and a fixed number of tokens per image", () => {
    const counter = tokenCounter({ count: byLength });
    const parts = [
      ...[{ type: "text", text: "ab" }, "cd", { type: "refusal", refusal: "no" }, null, 5],
      ...[{ type: "image_url", image_url: { url: "x".repeat(5000) } }, { type: "input_audio" }],
    ];
    expect(counter.countMessage(user(parts))).toBe(4 + 6 + 85);
    const odd = { role: "assistant", tool_calls: [null, {}, { function: { name: 5 } }] } as unknown as Message;
    expect(counter.countMessage(odd)).toBe(4 + 9);
  });

  test("may count messages itself, one by one or as a list", () => {
    expect(tokenCounter({ count: byLength, countMessage: () => 3 }).countMessages([user("a"), user("b")])).toBe(6);
    expect(tokenCounter({ count: byLength, countMessages: () => 9 }).countMessage(user("a"))).toBe(9);
  });

  test("is used unchanged if it is complete", () => {
    const whole = { estimated: false, count: () => 1, countMessage: () => 2, countMessages: () => 3 };
    expect(tokenCounter(whole)).toBe(whole);
  });

  test("counts each message object once", () => {
    const count = vi.fn(byLength);
    const counter = tokenCounter({ count });
    const message = user("hello");
    expect(counter.countMessage(message)).toBe(counter.countMessage(message));
    expect(count).toHaveBeenCalledTimes(1);
    counter.countMessage({ ...message });
    expect(count).toHaveBeenCalledTimes(2);
  });

  test("counts a message again if it was changed in place", () => {
    const counter = tokenCounter({ count: byLength });
    const message = { role: "user" as const, content: "hello" };
    expect(counter.countMessage(message)).toBe(9);
    message.content = "hello there";
    expect(counter.countMessage(message)).toBe(15);
  });
});
