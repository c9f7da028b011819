import fc from "fast-check";
import { expect, test } from "vitest";
import { renderTrace, type SpanNode, shownDuration, spanTree } from "./render-trace.ts";
import type { SpanData, SpanStatus } from "./span-data.ts";
import { TraceContext } from "./trace-context.ts";

interface Given {
  readonly id: string;
  readonly parent?: string;
  readonly start?: number;
  readonly end?: number;
  readonly status?: SpanStatus;
  readonly kind?: string;
  readonly metadata?: SpanData["metadata"];
}

function span({
  id,
  parent,
  start = 0,
  end = start + 1,
  status = "ok",
  kind = "custom",
  metadata = {},
}: Given): SpanData {
  const ids = { traceId: "t", spanId: id, ...(parent === undefined ? undefined : { parentSpanId: parent }) };
  return { ...ids, name: id, kind, startTime: start, endTime: end, duration: end - start, status, metadata };
}

function outline(nodes: readonly SpanNode[]): unknown[] {
  return nodes.map(({ span, children }) => (children.length === 0 ? span.name : [span.name, ...outline(children)]));
}

test("spans form a tree by their parents, in the order they started", () => {
  const spans = [
    span({ id: "tool", parent: "step", start: 3 }),
    span({ id: "run", start: 0 }),
    span({ id: "step", parent: "run", start: 1 }),
    span({ id: "model", parent: "step", start: 2 }),
  ];
  expect(outline(spanTree(spans))).toEqual([["run", ["step", "model", "tool"]]]);
});

test("a span whose parent is missing is a root; spans in a circle are not lost", () => {
  expect(outline(spanTree([span({ id: "a", parent: "gone" })]))).toEqual(["a"]);
  const circle = [span({ id: "a", parent: "b", start: 1 }), span({ id: "b", parent: "a", start: 2 })];
  expect(outline(spanTree(circle))).toEqual([["a", "b"]]);
  expect(outline(spanTree([span({ id: "self", parent: "self" })]))).toEqual(["self"]);
});

test("every span is in the tree exactly once, whatever parents the spans name", () => {
  const given = fc.record({
    id: fc.constantFrom("a", "b", "c", "d", "e"),
    parent: fc.constantFrom("a", "b", "c", "x"),
  });
  fc.assert(
    fc.property(fc.array(given), (list) => {
      const spans = list.map((one, start) => span({ ...one, start }));
      const seen: SpanData[] = [];
      const open = [...spanTree(spans)];
      for (let node = open.pop(); node !== undefined; node = open.pop()) {
        seen.push(node.span);
        open.push(...node.children);
      }
      expect(new Set(seen)).toEqual(new Set(spans));
      expect(seen).toHaveLength(spans.length);
    }),
  );
});

test("a chain of a hundred thousand spans does not overflow the stack", () => {
  const chain = Array.from({ length: 100_000 }, (_, i) => span({ id: `${i}`, parent: `${i - 1}`, start: i }));
  expect(spanTree(chain)).toHaveLength(1);
  expect(renderTrace(chain).split("\n")).toHaveLength(100_000);
});

test("a trace is rendered as a waterfall with durations, kinds, tokens and failures", () => {
  const spans = [
    span({ id: "assistant", start: 0, end: 1000, kind: "run" }),
    span({ id: "step 1", parent: "assistant", start: 0, end: 500, kind: "step" }),
    span({
      id: "gpt",
      parent: "step 1",
      start: 0,
      end: 250,
      kind: "model",
      metadata: { usage: { inputTokens: 120, outputTokens: 7 } },
    }),
    span({
      id: "search",
      parent: "step 1",
      start: 250,
      end: 500,
      kind: "tool",
      status: "error",
      metadata: { errorType: "TypeError" },
    }),
    span({ id: "step 2", parent: "assistant", start: 500, end: 1000, kind: "step", status: "cancelled" }),
  ];
  expect(renderTrace(spans, { barWidth: 8 }).split("\n")).toEqual([
    "✓ assistant     1.00 s  ████████  run",
    "✓   step 1      500 ms  ████····  step",
    "✓     gpt       250 ms  ██······  model  120 → 7 tokens",
    "✗     search    250 ms  ··██····  tool  TypeError",
    "⊘   step 2      500 ms  ····████  step",
  ]);
});

test("the first line shows the name, duration and id of the trace; an active span shows no duration", () => {
  const trace = TraceContext.open("Customer service");
  trace.span("going on");
  const [head, row] = renderTrace(trace).split("\n");
  expect(head).toMatch(new RegExp(`^Customer service {2}\\S+ \\S+ {2}trace ${trace.traceId}$`));
  expect(row).toMatch(/^… going on {9}…/);
});

test("no spans render as empty text, and colors are optional", () => {
  expect(renderTrace([])).toBe("");
  expect(renderTrace([span({ id: "a", status: "error" })], { color: true })).toContain("\u001b[31m✗");
});

test("untrusted text in a rendered trace is inert and stays on its line", () => {
  const hostile = fc.string({
    unit: fc.oneof(fc.constantFrom("\u001b", "\u009b", "\u202e", "\n", "\r", "\0", "\t"), fc.string()),
  });
  fc.assert(
    fc.property(hostile, (name) => {
      const text = renderTrace([{ ...span({ id: "x", kind: name, metadata: { errorType: name } }), name }]);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the test checks that none is left
      expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
    }),
  );
});

test("durations are shown in a readable unit", () => {
  const shown = [0, 0.0004, 0.5, 1.26, 12.3, 999, 1500, 59_000, 90_000].map(shownDuration);
  expect(shown).toEqual(["0 µs", "0 µs", "500 µs", "1.3 ms", "12 ms", "999 ms", "1.50 s", "59.00 s", "1.5 min"]);
});

test("a value that is neither a trace nor a list of spans is refused with a sentence", () => {
  const sentence = "() takes a trace or a list of spans; found";
  expect(() => renderTrace(undefined as never)).toThrow(`renderTrace${sentence} undefined.`);
  expect(() => renderTrace(Promise.resolve([]) as never)).toThrow("found a promise. Await it first.");
  expect(() => renderTrace([span({ id: "a" }), 5] as never)).toThrow(`renderTrace${sentence} 5 at index 1.`);
  expect(() => renderTrace({ getSpans: () => null } as never)).toThrow(`renderTrace${sentence} null.`);
  expect(() => spanTree({} as never)).toThrow(`spanTree${sentence} object.`);
});

test("unknown and unfit options of renderTrace are refused", () => {
  expect(() => renderTrace([], { colour: true } as never)).toThrow(
    'Unknown renderTrace option "colour". Valid options: color, barWidth, nameWidth.',
  );
  expect(() => renderTrace([], { barWidth: Number.POSITIVE_INFINITY })).toThrow('"barWidth" must be a whole number');
});
