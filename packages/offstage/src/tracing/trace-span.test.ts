import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import { expect, test } from "vitest";
import { memoryExporter } from "./exporters/memory.ts";
import type { SpanData } from "./span-data.ts";
import { TraceContext } from "./trace-context.ts";
import { TraceSpan } from "./trace-span.ts";

test("an active span has no duration; an ended one has its end minus its start", async () => {
  const span = new TraceSpan({ name: "s" });
  expect([span.status, span.endTime, span.duration]).toEqual(["active", undefined, undefined]);
  await sleep(5);
  span.end();
  expect(span.status).toBe("ok");
  expect(span.duration).toBeGreaterThan(3);
  expect(span.duration).toBe((span.endTime ?? 0) - span.startTime);
});

test("times are epoch milliseconds with fractions", () => {
  const spans = Array.from({ length: 20 }, () => new TraceSpan({ name: "s" }));
  for (const span of spans) expect(Math.abs(span.startTime - Date.now())).toBeLessThan(1000);
  expect(spans.some((span) => !Number.isInteger(span.startTime))).toBe(true);
});

test("a span ends once, even if an exporter or the work overwrites its status", () => {
  const exported: string[] = [];
  const exporter = {
    ...memoryExporter(),
    export([span]: readonly SpanData[]) {
      exported.push(`${span?.name} ${span?.status}`);
      Object.assign(span ?? {}, { status: "active" });
    },
  };
  const trace = TraceContext.open("t", { exporters: [exporter] });
  const [first, second] = [trace.span("first"), trace.span("second")];
  first.end();
  first.end("error");
  Object.assign(second, { status: "error" });
  second.end("cancelled");
  expect(exported).toEqual(["first ok", "second cancelled"]);
});

test("a span ends once; a second end changes neither status nor time and is not exported", async () => {
  const exporter = memoryExporter();
  const span = TraceContext.open("t", { exporters: [exporter] }).span("s");
  span.end("error");
  const { endTime } = span;
  await sleep(2);
  span.end("ok");
  span.fail(new Error("late"));
  expect([span.status, span.endTime, span.metadata]).toEqual(["error", endTime, {}]);
  expect(exporter.spans).toHaveLength(1);
});

test("metadata can be added until the span ends, and not after", () => {
  const span = new TraceSpan({ name: "s", metadata: { a: 1 } });
  span.setMetadata({ b: 2 });
  span.setMetadata({ a: 3 });
  span.end();
  span.setMetadata({ c: 4 });
  expect(span.metadata).toEqual({ a: 3, b: 2 });
});

test("a failed span has the type of the error in its metadata, never its message", () => {
  const span = new TraceSpan({ name: "s" });
  span.fail(new TypeError("the password is hunter2"));
  expect(span.status).toBe("error");
  expect(span.metadata).toEqual({ errorType: "TypeError" });
  expect(JSON.stringify(span)).not.toContain("hunter2");
});

test("content is kept only if tracing is configured to keep it", () => {
  const kept = TraceContext.open("t", { content: true }).span("s");
  const left = TraceContext.open("t").span("s");
  for (const span of [kept, left]) {
    span.setContent({ prompt: "hello" });
    span.fail(new Error("sentence"));
  }
  expect(kept.content).toEqual({ prompt: "hello", error: "sentence" });
  expect(left.content).toBeUndefined();
});

test("a span made with an end time has already ended", () => {
  const span = new TraceSpan({ name: "s", startTime: 1000, endTime: 1250, status: "cancelled" });
  expect([span.startTime, span.endTime, span.duration, span.status]).toEqual([1000, 1250, 250, "cancelled"]);
});

test("a span made by hand with options that do not fit is refused", () => {
  expect(() => new TraceSpan(undefined as never)).toThrow("The TraceSpan options must be an object; found undefined.");
  expect(() => new TraceSpan({ name: "s", end: 5 } as never)).toThrow('Unknown TraceSpan option "end".');
  expect(() => new TraceSpan({ name: "s", endTime: Number.NaN })).toThrow('"endTime" must be epoch milliseconds');
  expect(() => new TraceSpan({ name: "s", status: "done" as never })).toThrow('"status" must be "ok", "error" or');
});

test("a span survives JSON", () => {
  const span = TraceContext.open("t", { groupId: "g" }).span("s", { kind: "tool", metadata: { a: [1, null] } });
  span.end();
  expect(JSON.parse(JSON.stringify(span))).toEqual({
    traceId: span.traceId,
    spanId: span.spanId,
    traceName: "t",
    groupId: "g",
    name: "s",
    kind: "tool",
    startTime: span.startTime,
    endTime: span.endTime,
    duration: span.duration,
    status: "ok",
    metadata: { a: [1, null] },
  });
});

test("a hundred thousand span ids are different, well-formed and do not change", () => {
  const trace = TraceContext.open("t");
  const ids = new Set<string>();
  for (let i = 0; i < 100_000; i++) ids.add(new TraceSpan({ name: "s" }, trace).spanId);
  expect(ids.size).toBe(100_000);
  const malformed = [...ids].filter((id) => !/^[0-9a-f]{16}$/.test(id) || /^0+$/.test(id));
  expect(malformed).toEqual([]);
  const span = trace.span("s");
  expect(span.spanId).toBe(span.spanId);
});

test("a span prints as its plain data", () => {
  const span = new TraceSpan({ name: "s", kind: "tool", metadata: { a: 1 } });
  expect(inspect(span)).toBe(inspect(span.toJSON()));
});
