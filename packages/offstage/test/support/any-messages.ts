// Lists of messages and runs with anything in them, and every question that can be asked of them.
import fc from "fast-check";
import { expect } from "vitest";
import type { Message } from "../../src/messages/message.ts";
import { type TextFormat, textFormats } from "../../src/query/formats/index.ts";
import { MessageQuery } from "../../src/query/message-query.ts";
import type { RunSummary } from "../../src/query/run-summary.ts";

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
/** Anything in place of a message. */
export const anyMessage: fc.Arbitrary<unknown> = fc.oneof(
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

const anyRun = fc.record(
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

/** Asks every question, in every format. */
export function askEverything(query: MessageQuery): void {
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

/** Any list gives every answer, and is the same afterwards. Throws if one does not. */
export function checkAnyList(options: { readonly numRuns: number }): void {
  fc.assert(
    fc.property(fc.array(anyMessage, { maxLength: 6 }), fc.array(anyRun, { maxLength: 2 }), (list, runs) => {
      const before = structuredClone([list, runs]);
      askEverything(new MessageQuery(list as unknown as Message[], { runs }));
      expect([list, runs]).toEqual(before);
    }),
    options,
  );
}
