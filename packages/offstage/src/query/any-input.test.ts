// Whatever is in the list: nothing throws, nothing is changed, and time grows with the length alone.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Message } from "../messages/message.ts";
import { type TextFormat, textFormats } from "./formats/index.ts";
import { MessageQuery } from "./message-query.ts";
import type { RunSummary } from "./run-summary.ts";

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.constantFrom("", "__proto__", "a", "call_1", "\x1b[2J", "=1"),
);
// An object that cannot become text, and one that looks like a list.
const odd = fc.constantFrom({ toString: {}, valueOf: {} }, { length: -1 });
const garbage = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom(undefined, null, 0, true, "x", [], {}), odd);
const part = fc.oneof(
  garbage,
  fc.record({ type: fc.oneof(text, fc.constant("text")), text: fc.oneof(text, garbage) }, { requiredKeys: [] }),
);
const call = fc.oneof(
  garbage,
  fc.record(
    {
      id: fc.oneof(text, garbage),
      type: text,
      function: fc.oneof(
        garbage,
        fc.record({ name: fc.oneof(text, garbage), arguments: fc.oneof(text, garbage) }, { requiredKeys: [] }),
      ),
    },
    { requiredKeys: [] },
  ),
);
const metadata = fc.record(
  {
    createdAt: fc.oneof(text, fc.constant("2026-01-01T00:00:00Z"), garbage),
    runId: fc.oneof(text, garbage, fc.constantFrom("r", "s", "t")),
    parentRunId: fc.oneof(garbage, fc.constantFrom("r", "s", "t")),
    childRunId: fc.oneof(garbage, fc.constantFrom("r", "s", "t")),
    agent: fc.oneof(text, garbage),
    isJson: garbage,
    usage: garbage,
    isError: garbage,
    interrupted: garbage,
    durationMs: garbage,
  },
  { requiredKeys: [] },
);
const message = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record(
      {
        role: fc.oneof(fc.constantFrom("system", "user", "assistant", "tool", "developer"), text, garbage),
        content: fc.oneof(text, fc.array(part, { maxLength: 3 }), garbage),
        tool_calls: fc.oneof(fc.array(call, { maxLength: 3 }), garbage),
        tool_call_id: fc.oneof(text, garbage),
        name: fc.oneof(text, garbage),
        metadata: fc.oneof(metadata, garbage),
        _metadata: garbage,
      },
      { requiredKeys: [] },
    ),
  },
  { weight: 1, arbitrary: garbage },
);

const run = fc.record(
  {
    runId: fc.oneof(text, fc.constantFrom("r", "s", "t")),
    parentToolCallId: fc.oneof(text, garbage),
    agent: fc.oneof(text, garbage),
    model: garbage,
    status: fc.oneof(garbage, fc.constant("failed")),
    reason: garbage,
    error: fc.oneof(garbage, fc.record({ code: garbage, message: garbage })),
    durationMs: garbage,
    usage: garbage,
    cost: garbage,
    instructions: fc.oneof(text, garbage),
    annotations: fc.oneof(garbage, fc.array(fc.oneof(garbage, fc.record({ label: garbage, value: garbage })))),
  },
  { requiredKeys: ["runId"] },
) as unknown as fc.Arbitrary<RunSummary>;

function askEverything(query: MessageQuery): void {
  query.filter({
    role: "tool",
    toolName: "a",
    content: "a",
    runId: "r",
    agent: "a",
    subagents: true,
    isError: true,
    since: 0,
    until: 9e12,
  });
  for (const criteria of [{ toolName: "a" }, { content: "a" }, { content: /a/g }, { isError: false }, { since: 0 }])
    query.filter(criteria);
  String(query.stats());
  String(query.toolSummary());
  String(query.timeline());
  query.runs();
  query.where({ role: "assistant" }).export("dict", { redact: true });
  const options = { includeMetadata: true, redact: true, maxContentLength: 5, messages: query.last(3) };
  for (const format of Object.keys(textFormats) as TextFormat[]) {
    query.export(format);
    query.export(format, options);
  }
  for (const view of ["timeline", "stats", "tools"] as const) query.print(view, { stream: { write: () => true } });
}

describe("any list", () => {
  test("gives every answer, and is the same afterwards", () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 6 }), fc.array(run, { maxLength: 2 }), (list, runs) => {
        const before = structuredClone([list, runs]);
        askEverything(new MessageQuery(list as unknown as Message[], { runs }));
        expect([list, runs]).toEqual(before);
      }),
      // Bounded in time as well: on a busy machine they are fewer.
      { numRuns: 10_000, interruptAfterTimeLimit: 10_000 },
    );
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
      fc.property(fc.array(message, { maxLength: 6 }), (list) => {
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
