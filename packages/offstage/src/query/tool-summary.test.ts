import { deepStrictEqual } from "node:assert";
import { describe, expect, test } from "vitest";
import { assistant, toolCall, toolResult, user } from "../messages/makers.ts";
import type { Message } from "../messages/message.ts";
import { MessageQuery } from "./message-query.ts";

const calls = (...toolCalls: ReturnType<typeof toolCall>[]): Message => assistant(null, { toolCalls });
const summaryOf = (...messages: Message[]) => new MessageQuery(messages).toolSummary();

describe("the tool summary", () => {
  test("groups calls by tool, in the order of their first call", () => {
    const summary = summaryOf(
      calls(toolCall("1", "read", { path: "a" }), toolCall("2", "search", { q: "x" })),
      toolResult("1", "A"),
      toolResult("2", "X"),
      calls(toolCall("3", "read", { path: "b" })),
      toolResult("3", "B"),
    );
    expect(summary.map(({ toolName, callCount }) => [toolName, callCount])).toEqual([
      ["read", 2],
      ["search", 1],
    ]);
    expect(summary[0]?.arguments).toEqual([{ path: "a" }, { path: "b" }]);
    expect(summary[0]?.results).toEqual(["A", "B"]);
    expect(summary[0]?.toolCallIds).toEqual(["1", "3"]);
  });

  test("keeps its lists aligned if a call was not answered", () => {
    const [info] = summaryOf(
      calls(toolCall("1", "f", { n: 1 }), toolCall("2", "f", { n: 2 }), toolCall("3", "f", { n: 3 })),
      toolResult("3", "three"),
      toolResult("1", "one"),
    );
    expect(info?.results).toEqual(["one", undefined, "three"]);
    expect(info?.calls.map(({ toolCallId, input, result }) => [toolCallId, input, result])).toEqual([
      ["1", { n: 1 }, "one"],
      ["2", { n: 2 }, undefined],
      ["3", { n: 3 }, "three"],
    ]);
  });

  test("has the value that a tool returned, and the text beside it", () => {
    const [info] = summaryOf(
      calls(toolCall("1", "f"), toolCall("2", "f"), toolCall("3", "f"), toolCall("4", "f")),
      toolResult("1", '{"rows":[1,2]}', { metadata: { isJson: true } }),
      toolResult("2", '{"rows":[1,2]}'),
      toolResult("3", '{"rows":[1,[clipped, 900 bytes]', { metadata: { isJson: true } }),
      toolResult("4", "null", { metadata: { isJson: true } }),
    );
    expect(info?.results).toEqual([{ rows: [1, 2] }, '{"rows":[1,2]}', '{"rows":[1,[clipped, 900 bytes]', null]);
    expect(info?.calls.map(({ resultText }) => resultText)).toEqual([
      '{"rows":[1,2]}',
      '{"rows":[1,2]}',
      '{"rows":[1,[clipped, 900 bytes]',
      "null",
    ]);
    const [lost] = summaryOf(toolResult("9", "[1]", { metadata: { isJson: true } }));
    expect(lost?.orphans).toMatchObject([{ result: [1], resultText: "[1]" }]);
  });

  test("pairs equal ids in order", () => {
    const [inOneMessage] = summaryOf(
      calls(toolCall("x", "f", { n: 1 }), toolCall("x", "f", { n: 2 })),
      toolResult("x", "one"),
      toolResult("x", "two"),
    );
    expect(inOneMessage?.results).toEqual(["one", "two"]);
    const [inTurn] = summaryOf(
      calls(toolCall("x", "f", { n: 1 })),
      toolResult("x", "one"),
      calls(toolCall("x", "f", { n: 2 })),
      toolResult("x", "two"),
    );
    expect(inTurn?.results).toEqual(["one", "two"]);
    const [inTwoMessages] = summaryOf(
      calls(toolCall("x", "f", { n: 1 })),
      calls(toolCall("x", "f", { n: 2 })),
      toolResult("x", "one"),
      toolResult("x", "two"),
    );
    expect(inTwoMessages?.results).toEqual(["one", "two"]);
  });

  test("pairs a result with the nearest call, not with an interrupted one before", () => {
    const [info] = summaryOf(
      calls(toolCall("x", "f", { n: 1 })),
      user("stop, again"),
      calls(toolCall("x", "f", { n: 2 })),
      toolResult("x", "two"),
    );
    expect(info?.results).toEqual([undefined, "two"]);
  });

  test("pairs calls and results that have no id at all", () => {
    const nameless = {
      role: "assistant",
      tool_calls: [{ function: { name: "f", arguments: "{}" } }],
    } as unknown as Message;
    const [info] = summaryOf(nameless, { role: "tool", content: "r" } as unknown as Message);
    expect(info?.results).toEqual(["r"]);
  });

  test("pairs a late result, and one that comes before its call", () => {
    const [late] = summaryOf(calls(toolCall("1", "f")), assistant("meanwhile"), user("and?"), toolResult("1", "late"));
    expect(late?.results).toEqual(["late"]);
    const [early] = summaryOf(toolResult("1", "early"), calls(toolCall("1", "f")));
    expect(early?.results).toEqual(["early"]);
    expect(early?.orphans).toEqual([]);
  });

  test("shows results without a call as orphans, under their name", () => {
    const summary = summaryOf(toolResult("9", "lost", { name: "ghost" }), toolResult("8", "nameless"));
    expect(summary.map(({ toolName, callCount, orphans }) => [toolName, callCount, orphans[0]?.result])).toEqual([
      ["ghost", 0, "lost"],
      ["unknown", 0, "nameless"],
    ]);
    expect(String(summary)).toContain("result without a call: lost");
  });

  test("keeps arguments that are not JSON as text", () => {
    const [info] = summaryOf(calls(toolCall("1", "f", '{"cut": '), toolCall("2", "f", ""), toolCall("3", "f", "[1]")));
    expect(info?.arguments).toEqual(['{"cut": ', {}, [1]]);
    expect(info?.calls[0]?.inputText).toBe('{"cut": ');
  });

  test("shows the text of the model if the message holds a corrected one", () => {
    const asked = assistant(null, {
      toolCalls: [toolCall("1", "f", "{}")],
      metadata: { inputTexts: { "1": "{broken" } },
    });
    expect(summaryOf(asked)[0]?.calls[0]).toMatchObject({ inputText: "{broken", input: "{broken" });
  });

  test("takes arguments that are an object, and calls without a function", () => {
    const odd = {
      role: "assistant",
      tool_calls: [{ id: "1", function: { name: "f", arguments: { a: 1 } } }, { id: "2" }],
    };
    const summary = summaryOf(odd as unknown as Message);
    expect(summary[0]?.arguments).toEqual([{ a: 1 }]);
    expect(summary[1]).toMatchObject({ toolName: "unknown", toolCallIds: ["2"], results: [undefined] });
  });

  test("counts failures and reads list content, times and runs", () => {
    const [info] = summaryOf(
      assistant(null, {
        toolCalls: [toolCall("1", "f"), toolCall("2", "f"), toolCall("3", "f")],
        metadata: { createdAt: "2026-01-01T00:00:00.000Z", runId: "r" },
      }),
      toolResult("1", [{ type: "text", text: "parts" }], {
        isError: true,
        metadata: { createdAt: "2026-01-01T00:00:00.250Z" },
      }),
      toolResult("2", "x", { metadata: { durationMs: 7 } }),
      toolResult("3", "x"),
    );
    expect(info?.errorCount).toBe(1);
    expect(info?.results[0]).toBe("parts");
    expect(info?.calls.map(({ durationMs, runId }) => [durationMs, runId])).toEqual([
      [250, "r"],
      [7, "r"],
      [undefined, "r"],
    ]);
  });

  test("counts neither rejected nor interrupted calls as failures", () => {
    const [info] = summaryOf(
      calls(toolCall("1", "f"), toolCall("2", "f"), toolCall("3", "f"), toolCall("4", "f")),
      toolResult("1", "no", { isError: true, metadata: { status: "rejected" } }),
      toolResult("2", "unknown", { isError: true, metadata: { status: "interrupted" } }),
      toolResult("3", "cut", { isError: true, metadata: { interrupted: true } }),
      toolResult("4", "broken", { isError: true }),
    );
    expect(info?.calls.map(({ status }) => status)).toEqual(["rejected", "interrupted", "interrupted", "error"]);
    expect(info?.errorCount).toBe(1);
    expect(String(info)).toContain("interrupted: unknown");
  });

  test("prints itself and compares as a plain array", () => {
    const summary = summaryOf(calls(toolCall("1", "f", { a: 1 })), toolResult("1", "done"), calls(toolCall("2", "f")));
    expect(String(summary)).toContain("Tool: f (called 2 times)");
    expect(String(summary)).toContain('arguments: {"a":1}');
    expect(String(summary)).toContain("result: done");
    expect(String(summary)).toContain("no result");
    expect(String(summary[0])).toBe(String(summary));
    expect(Array.isArray(summary)).toBe(true);
    deepStrictEqual(summary, [...summary]);
    expect(Object.keys(summary)).toEqual(["0"]);
    expect(String(summaryOf())).toBe("No tool calls.");
  });

  test("stays linear with a hundred thousand calls in one message", () => {
    const many = Array.from({ length: 100_000 }, (_, i) => toolCall(`${i}`, "f"));
    const results = many.map(({ id }) => toolResult(id, id)).reverse();
    const start = performance.now();
    const [info] = summaryOf(calls(...many), ...results);
    expect(info?.results.at(-1)).toBe("99999");
    expect(performance.now() - start).toBeLessThan(3000);
  });
});
