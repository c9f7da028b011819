import { expect, test } from "vitest";
import type { SpanData } from "../tracing/span-data.ts";
import { checkSpans } from "./check-spans.ts";

const id = (n: number): string => n.toString(16).padStart(16, "0");

function span(n: number, changes: Partial<SpanData> = {}): SpanData {
  const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
  const times = { startTime: n, endTime: n + 1, duration: 1 };
  return { traceId, spanId: id(n), name: `s${n}`, kind: "custom", ...times, status: "ok", metadata: {}, ...changes };
}

test("a run with steps, model calls, tools and a nested run has no violations", () => {
  const spans = [
    span(1, { kind: "run" }),
    span(2, { kind: "step", parentSpanId: id(1) }),
    span(3, { kind: "model", parentSpanId: id(2), status: "cancelled" }),
    span(4, { kind: "tool", parentSpanId: id(2), status: "error" }),
    span(5, { kind: "run", parentSpanId: id(4) }),
    span(6, { kind: "step", parentSpanId: id(5) }),
    span(7, { parentSpanId: id(6) }),
    span(8, { kind: "session", parentSpanId: "00f067aa0ba902b7", parentIsRemote: true }),
  ];
  expect(checkSpans(spans)).toEqual([]);
});

test.each<[string, SpanData[]]>([
  ["is still active", [span(1, { status: "active", endTime: undefined, duration: undefined })]],
  ["has ended without an end time", [span(1, { endTime: undefined })]],
  ["ends before it starts", [span(1, { endTime: 0 })]],
  ["has a duration that is not", [span(1, { duration: 5 })]],
  ["has the status", [span(1, { status: "done" as SpanData["status"] })]],
  ["has the span id", [span(1, { spanId: "xyz" })]],
  ["has the trace id", [span(1, { traceId: "0".repeat(32) })]],
  ["has a parent that is missing", [span(1, { parentSpanId: id(9) })]],
  ["in another trace", [span(1), span(2, { parentSpanId: id(1), traceId: "a".repeat(32) })]],
  ["starts before its parent", [span(1, { parentSpanId: id(2) }), span(2)]],
  ["is its own ancestor", [span(1, { parentSpanId: id(1) })]],
  ["ids are duplicated", [span(1), span(1)]],
  ["of kind step is under no run", [span(1, { kind: "step" })]],
  ["of kind tool is under model", [span(1, { kind: "model" }), span(2, { kind: "tool", parentSpanId: id(1) })]],
  ["has data that is not JSON", [span(1, { metadata: { big: 1n } as never })]],
])("checkSpans reports: %s", (violation, spans) => {
  expect(checkSpans(spans).join("\n")).toContain(violation);
});

test("active spans and missing parents can be allowed", () => {
  const spans = [span(1, { parentSpanId: id(9), status: "active", endTime: undefined, duration: undefined })];
  expect(checkSpans(spans, { allowActive: true, allowMissingParents: true })).toEqual([]);
});
