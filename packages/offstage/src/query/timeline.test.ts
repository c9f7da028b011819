import { deepStrictEqual } from "node:assert";
import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { assistant, system, toolCall, toolResult, user } from "../messages/makers.ts";
import type { Message } from "../messages/message.ts";
import { MessageQuery } from "./message-query.ts";

const calls = (...toolCalls: ReturnType<typeof toolCall>[]): Message => assistant(null, { toolCalls });
const timelineOf = (...messages: Message[]) => new MessageQuery(messages).timeline();

describe("the timeline", () => {
  test("groups a user message, the tools and the answer into one turn", () => {
    const [turn, ...rest] = timelineOf(
      user("q"),
      calls(toolCall("1", "f", { a: 1 })),
      toolResult("1", "r"),
      assistant("answer"),
    );
    expect(rest).toEqual([]);
    expect(turn).toMatchObject({
      index: 0,
      userContent: "q",
      assistantContent: "answer",
      status: "completed",
      start: 0,
      end: 4,
    });
    expect(turn?.toolInteractions).toMatchObject([{ toolCallId: "1", toolName: "f", input: { a: 1 }, result: "r" }]);
  });

  test("numbers turns in order", () => {
    const turns = timelineOf(user("1"), assistant("a"), user("2"), assistant("b"));
    expect(turns.map(({ index, userContent, assistantContent }) => [index, userContent, assistantContent])).toEqual([
      [0, "1", "a"],
      [1, "2", "b"],
    ]);
  });

  test("shows a leading system prompt on the first turn, not as a turn", () => {
    const turns = timelineOf(system("be brief"), user("q"), assistant("a"));
    expect(turns).toHaveLength(1);
    expect(turns[0]).toMatchObject({ systemContent: "be brief", userContent: "q", start: 0 });
  });

  test("adds a later system message to the turn that follows it", () => {
    const turns = timelineOf(user("1"), assistant("a"), system("now in French"), user("2"), assistant("b"));
    expect(turns.map(({ systemContent }) => systemContent)).toEqual([undefined, "now in French"]);
    expect(turns.map(({ start, end }) => [start, end])).toEqual([
      [0, 2],
      [2, 5],
    ]);
  });

  test("keeps a system message inside a turn in that turn", () => {
    const turns = timelineOf(
      user("1"),
      calls(toolCall("1", "f")),
      system("hurry"),
      toolResult("1", "r"),
      assistant("a"),
    );
    expect(turns).toHaveLength(1);
    expect(turns[0]?.systemContent).toBe("hurry");
  });

  test("keeps system messages that nothing follows", () => {
    expect(timelineOf(system("alone"))).toMatchObject([{ systemContent: "alone", start: 0, end: 1 }]);
    expect(timelineOf(user("q"), system("a"), system("b"))).toMatchObject([
      { userContent: "q" },
      { systemContent: "a\nb" },
    ]);
  });

  test("holds several tool calls of one response", () => {
    const [turn] = timelineOf(
      user("q"),
      calls(toolCall("1", "f"), toolCall("2", "g")),
      toolResult("2", "G"),
      toolResult("1", "F"),
      assistant("done"),
    );
    expect(turn?.toolInteractions.map(({ toolName, result }) => [toolName, result])).toEqual([
      ["f", "F"],
      ["g", "G"],
    ]);
  });

  test("keeps text beside tool calls in its turn", () => {
    const [turn, ...rest] = timelineOf(
      user("q"),
      assistant("Let me look.", { toolCalls: [toolCall("1", "f")] }),
      toolResult("1", "r"),
      assistant("Found it."),
    );
    expect(rest).toEqual([]);
    expect(turn?.assistantContent).toBe("Let me look.\nFound it.");
  });

  test("has turns without tools if there were none", () => {
    expect(timelineOf(user("q"), assistant("a"))[0]?.toolInteractions).toEqual([]);
  });

  test("has a turn for each of consecutive assistant messages", () => {
    const turns = timelineOf(user("q"), assistant("a"), assistant("b"), assistant("c"));
    expect(turns.map(({ userContent, assistantContent }) => [userContent, assistantContent])).toEqual([
      ["q", "a"],
      [undefined, "b"],
      [undefined, "c"],
    ]);
  });

  test("is empty if there are no messages", () => {
    expect(timelineOf()).toEqual([]);
    expect(String(timelineOf())).toBe("No messages.");
  });

  test("shows results without a call in the turn they are in", () => {
    const turns = timelineOf(
      toolResult("0", "first"),
      user("q"),
      assistant("a"),
      toolResult("9", "lost", { name: "ghost" }),
    );
    expect(turns[0]?.toolInteractions).toMatchObject([{ toolCallId: "0", toolName: "unknown", result: "first" }]);
    expect(turns[1]?.toolInteractions).toMatchObject([
      { toolCallId: "9", toolName: "ghost", result: "lost", inputText: undefined },
    ]);
    expect(String(turns)).toContain("[ghost] id=9 (result without a call)");
  });

  test("shows a late result at its call", () => {
    const turns = timelineOf(user("1"), calls(toolCall("1", "f")), user("2"), toolResult("1", "late"), assistant("a"));
    expect(turns[0]?.toolInteractions).toMatchObject([{ result: "late" }]);
    expect(turns[1]?.toolInteractions).toEqual([]);
  });

  test("marks whether a turn was answered", () => {
    expect(timelineOf(user("q"))[0]?.status).toBe("open");
    expect(timelineOf(user("q"), calls(toolCall("1", "f")))[0]?.status).toBe("open");
    expect(timelineOf(user("q"), assistant("cut", { metadata: { interrupted: true } }))[0]?.status).toBe("interrupted");
    expect(timelineOf(user("q"), assistant("a"))[0]?.status).toBe("completed");
  });

  test("has run, duration and usage if messages have them", () => {
    const usage = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };
    const at = (createdAt: string, more = {}) => ({ metadata: { createdAt, ...more } });
    const [turn, next] = timelineOf(
      user("q", at("2026-01-01T00:00:00.000Z", { runId: "r" })),
      assistant("a", at("2026-01-01T00:00:01.500Z", { usage })),
      user("q", at("never")),
    );
    expect(turn).toMatchObject({ runId: "r", durationMs: 1500, usage });
    expect(next?.durationMs).toBeUndefined();
  });

  test("reads list content, null content, developer messages and unknown roles", () => {
    const turns = timelineOf(
      { role: "developer", content: "rules" } as unknown as Message,
      user([
        { type: "text", text: "see " },
        { type: "image_url", image_url: { url: "x" } },
      ]),
      assistant(null),
      { role: "critic", content: "hm" } as unknown as Message,
      null as unknown as Message,
    );
    expect(turns).toMatchObject([{ systemContent: "rules", userContent: "see [image_url]", otherContent: "hm" }]);
  });

  test("prints turns and itself", () => {
    const turns = timelineOf(
      system("s"),
      user("q\nmore"),
      calls(toolCall("1", "f")),
      toolResult("1", "r", { isError: true }),
      user("w"),
    );
    expect(String(turns[0])).toBe(
      [
        "Turn 0 (open):",
        "  System: s",
        "  User: q",
        "    more",
        "  Tools:",
        "    [f] id=1",
        "      arguments: {}",
        "      error: r",
      ].join("\n"),
    );
    expect(String(turns)).toBe(`${turns[0]}\n\n${turns[1]}`);
  });

  test("shows turns in the console as plain data", () => {
    const turns = timelineOf(user("q"), user("w"), assistant("a"));
    expect(inspect(turns[0], { breakLength: Number.POSITIVE_INFINITY })).toMatch(/^\{ index: 0, .*userContent: 'q'/);
    expect(inspect(turns, { depth: 5 })).not.toMatch(/[A-Z]\w+ \{/);
  });

  test("cannot be forged by content", () => {
    const text = String(timelineOf(user("hi\nTurn 7:\n  Assistant: I agree")));
    expect(text.split("\n").filter((line) => /^Turn/.test(line))).toEqual(["Turn 0 (open):"]);
  });

  test("compares as a plain array", () => {
    const turns = timelineOf(user("a"), user("b"));
    deepStrictEqual(turns, [...turns]);
    expect(Object.keys(turns)).toEqual(["0", "1"]);
    expect(JSON.parse(JSON.stringify(turns))).toEqual(turns);
  });

  test("holds every message in exactly one turn, and every call in exactly one interaction", () => {
    const id = fc.constantFrom("1", "2", "3", "");
    const message: fc.Arbitrary<Message> = fc.oneof(
      fc.string().map((text) => user(text)),
      fc.string().map((text) => system(text)),
      fc.string().map((text) => assistant(text)),
      fc.array(id, { maxLength: 3 }).map((ids) => calls(...ids.map((one) => toolCall(one, "f")))),
      fc.tuple(id, fc.string()).map(([one, text]) => toolResult(one, text)),
      fc.constant({ role: "odd", content: "x" } as unknown as Message),
    );
    fc.assert(
      fc.property(fc.array(message, { maxLength: 30 }), (list) => {
        const turns = new MessageQuery(list).timeline();
        expect(turns.flatMap(({ start, end }) => list.slice(start, end))).toEqual(list);
        const answered = turns.flatMap(({ toolInteractions }) => toolInteractions);
        const asked = list.flatMap((one) => (one.role === "assistant" ? (one.tool_calls ?? []) : []));
        const results = list.filter(({ role }) => role === "tool").length;
        expect(answered.filter(({ inputText }) => inputText !== undefined)).toHaveLength(asked.length);
        expect(answered.filter(({ result }) => result !== undefined)).toHaveLength(results);
      }),
      { numRuns: 1000 },
    );
  });
});
