import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { TraceContext, type TraceOptions } from "./trace-context.ts";
import { configureTracing } from "./trace-state.ts";
import { parseTraceparent } from "./traceparent.ts";
import { withSpan, withTrace } from "./with-span.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const spanId = "00f067aa0ba902b7";
const traceparent = `00-${traceId}-${spanId}-01`;

afterEach(() => configureTracing());

test("a trace continues the caller's trace under the caller's span", async () => {
  const trace = TraceContext.fromHeaders({ traceparent });
  expect(trace?.traceId).toBe(traceId);
  const span = trace?.span("s");
  expect([span?.parentSpanId, span?.parentIsRemote]).toEqual([spanId, true]);
  await withTrace("t", { headers: new Headers({ traceparent }) }, async (continued) => {
    expect(continued.traceId).toBe(traceId);
    await withSpan("outer", async (outer) => {
      expect(outer.parentSpanId).toBe(spanId);
      await withSpan("inner", (inner) =>
        expect([inner.parentSpanId, inner.parentIsRemote]).toEqual([outer.spanId, false]),
      );
    });
  });
});

test("the headers of a trace contain its id and the id of the current span", async () => {
  await withTrace("t", async (trace) => {
    await withSpan("s", (span) => {
      expect(trace.toHeaders()).toEqual({ traceparent: `00-${trace.traceId}-${span.spanId}-01` });
    });
    const above = trace.toHeaders();
    expect(TraceContext.fromHeaders(above)?.traceId).toBe(trace.traceId);
  });
});

test("a trace without spans passes on the caller's span and vendor data", () => {
  const headers = { traceparent, tracestate: "vendor=1" };
  expect(TraceContext.fromHeaders(headers)?.toHeaders()).toEqual(headers);
});

test.each([
  ["a line break", "vendor=1\r\nset-cookie: a=b"],
  ["a line break at the end", "vendor=1\r\n"],
  ["a control character", "vendor=\u0007"],
  ["a character outside of ASCII", "vendor=é"],
  ["no key", "=1"],
  ["no value", "vendor"],
  ["an upper-case key", "Vendor=1"],
  ["too many entries", Array.from({ length: 33 }, (_, i) => `v${i}=1`).join()],
  ["too many characters", `vendor=${"1".repeat(510)}`],
])("a tracestate with %s is dropped", (_, tracestate) => {
  const trace = TraceContext.fromHeaders({ traceparent, tracestate });
  expect(trace?.traceId).toBe(traceId);
  expect(trace?.toHeaders()).toEqual({ traceparent });
});

test("a valid tracestate is passed on without optional spaces", () => {
  const headers = { traceparent, tracestate: "rojo=00f067aa0ba902b7 , ,tenant@congo=t 61" };
  expect(TraceContext.fromHeaders(headers)?.toHeaders().tracestate).toBe("rojo=00f067aa0ba902b7,tenant@congo=t 61");
});

test("header names are read in any case, and values from lists, too", () => {
  expect(TraceContext.fromHeaders({ TraceParent: traceparent })?.traceId).toBe(traceId);
  expect(TraceContext.fromHeaders({ traceparent: [traceparent] })?.traceId).toBe(traceId);
});

test.each([
  ["nothing", undefined],
  ["not a traceparent", "hello"],
  ["a trace id of zeros", `00-${"0".repeat(32)}-${spanId}-01`],
  ["a span id of zeros", `00-${traceId}-${"0".repeat(16)}-01`],
  ["upper case", `00-${traceId.toUpperCase()}-${spanId}-01`],
  ["version ff", `ff-${traceId}-${spanId}-01`],
  ["more fields in version 00", `00-${traceId}-${spanId}-01-extra`],
  ["a short trace id", `00-${traceId.slice(1)}-${spanId}-01`],
])("%s is ignored, and a new trace is opened", async (_, value) => {
  expect(TraceContext.fromHeaders({ traceparent: value })).toBeUndefined();
  await withTrace("t", { headers: { traceparent: value } }, (trace) => {
    expect(trace.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(trace.traceId).not.toBe(traceId);
  });
});

test("the first four fields of a later version are read", () => {
  expect(parseTraceparent({ traceparent: `01-${traceId}-${spanId}-01-what-the-future-holds` })?.traceId).toBe(traceId);
});

test("a trace that the caller does not sample is not recorded, and passed on as unsampled", async () => {
  await withTrace("t", { headers: { traceparent: `00-${traceId}-${spanId}-00` } }, async (trace) => {
    await withSpan("s", async () => {});
    expect(trace.getSpans()).toEqual([]);
    expect(trace.toHeaders().traceparent).toBe(`00-${traceId}-${spanId}-00`);
  });
});

test("written headers read back as they were, and no header text makes reading throw", () => {
  const hex = (length: number) =>
    fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: length, maxLength: length });
  fc.assert(
    fc.property(hex(32), hex(16), fc.boolean(), (trace, span, sampled) => {
      fc.pre(!/^0+$/.test(trace) && !/^0+$/.test(span));
      const read = parseTraceparent({ traceparent: `00-${trace}-${span}-${sampled ? "01" : "00"}` });
      expect(read).toEqual({ traceId: trace, parentSpanId: span, sampled, tracestate: undefined });
    }),
  );
  fc.assert(fc.property(fc.string(), (text) => void parseTraceparent({ traceparent: text, tracestate: text })));
});

test("a trace continues from the traceparent option if no header is valid", async () => {
  const idOf = (options: TraceOptions) => withTrace("t", options, (trace) => [trace.traceId, trace.remoteParentId]);
  expect(await idOf({ traceparent })).toEqual([traceId, spanId]);
  expect(await idOf({ traceparent, headers: {} })).toEqual([traceId, spanId]);
  expect(await idOf({ traceparent: "hello" })).toEqual([expect.not.stringContaining(traceId), undefined]);
});
