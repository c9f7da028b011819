// Whatever is in the list: nothing throws, nothing is changed, and time grows with the length alone.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyMessage, askEverything, checkAnyList } from "../../test/support/any-messages.ts";
import type { Message } from "../messages/message.ts";
import { MessageQuery } from "./message-query.ts";

describe("any list", () => {
  test("gives every answer, and is the same afterwards", () => {
    checkAnyList({ numRuns: 500 });
  });

  test("may hold values that are nested too deep for JSON", () => {
    const deep = JSON.parse(`${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`);
    const query = new MessageQuery([
      { role: "user", content: deep, metadata: deep } as unknown as Message,
      deep,
      [deep],
    ]);
    askEverything(query);
    expect(query.export("json")).toContain("[too deep]");
  });

  test("may be deep-frozen", () => {
    fc.assert(
      fc.property(fc.array(anyMessage, { maxLength: 6 }), (list) => {
        askEverything(new MessageQuery(deepFrozen(list) as unknown as Message[]));
      }),
      { numRuns: 500 },
    );
  });
});

describe("time grows with the length alone", () => {
  const questions: [string, (query: MessageQuery) => unknown][] = [
    ["filter by role", (query) => query.filter({ role: "tool" })],
    ["filter by nameless tool", (query) => query.filter({ toolName: "f" })],
    ["filter by text", (query) => query.filter({ content: "9" })],
    ["stats", (query) => query.stats()],
    ["tool summary", (query) => query.toolSummary()],
    ["timeline", (query) => query.timeline()],
    ["json", (query) => query.export("json")],
    ["csv", (query) => query.export("csv")],
    ["markdown", (query) => query.export("markdown")],
    ["html", (query) => query.export("html")],
    ["a part with its old places", (query) => query.export("dict", { messages: query.filter({ role: "tool" }) })],
  ];
  const small = new MessageQuery(conversation(5_000));
  const large = new MessageQuery(conversation(40_000));

  // Eight times as many would take sixty-four times as long if anything were quadratic. The best of five: others are busy too.
  test.for(questions)("of %s", ([, ask]) => {
    ask(small);
    const ratios = Array.from({ length: 5 }, () => timeOf(() => ask(large)) / timeOf(() => ask(small)));
    expect(Math.min(...ratios)).toBeLessThan(32);
  });

  const fewRuns = new MessageQuery(nested(5_000));
  const manyRuns = new MessageQuery(nested(40_000));

  test.for(questions)("of %s, with a subagent in every call of one step", ([, ask]) => {
    ask(fewRuns);
    const ratios = Array.from({ length: 5 }, () => timeOf(() => ask(manyRuns)) / timeOf(() => ask(fewRuns)));
    expect(Math.min(...ratios)).toBeLessThan(32);
  });
});

function nested(length: number): Message[] {
  const ids = Array.from({ length: length / 4 }, (_, i) => `c${i}`);
  const tool_calls = ids.map((id) => ({ id, type: "function" as const, function: { name: "f", arguments: "{}" } }));
  const own = { runId: "p" };
  return [
    { role: "assistant", content: null, tool_calls, metadata: own },
    ...ids.flatMap((id, i): Message[] => {
      const metadata = { runId: `r${i}`, parentRunId: "p" };
      // Half of the calls have no result yet.
      const result: Message = {
        role: "tool",
        tool_call_id: id,
        content: "r",
        metadata: { ...own, childRunId: `r${i}` },
      };
      return [
        { role: "user", content: "task", metadata },
        { role: "assistant", content: "done", metadata },
        ...(i % 2 === 0 ? [result] : []),
      ];
    }),
  ];
}

function conversation(length: number): Message[] {
  return Array.from({ length }, (_, i): Message => {
    if (i % 4 === 0) return { role: "user", content: `question ${i}` };
    if (i % 4 === 3) return { role: "assistant", content: `answer ${i}` };
    if (i % 4 === 2) return { role: "tool", tool_call_id: `c${i - 1}`, content: `result ${i}` };
    return {
      role: "assistant",
      content: null,
      tool_calls: [{ id: `c${i}`, type: "function", function: { name: "f", arguments: "{}" } }],
    };
  });
}

function timeOf(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

function deepFrozen<T>(value: T): T {
  if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(deepFrozen);
  return value;
}
