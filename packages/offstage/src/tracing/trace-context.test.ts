import { EventEmitter } from "node:events";
import { setTimeout as sleep, setImmediate as tick } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { memoryExporter } from "./exporters/memory.ts";
import { currentGroupId, currentTraceId, TraceContext } from "./trace-context.ts";
import { TraceSpan } from "./trace-span.ts";
import { configureTracing } from "./trace-state.ts";
import { withSpan, withTrace } from "./with-span.ts";

afterEach(() => configureTracing());

test("a trace has a name, a W3C id, a group, metadata and a start time", async () => {
  const before = Date.now();
  await withTrace("Customer service", { groupId: "chat-123", metadata: { customer: "user-456" } }, async (trace) => {
    expect(trace.name).toBe("Customer service");
    expect(trace.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(trace.groupId).toBe("chat-123");
    expect(trace.metadata).toEqual({ customer: "user-456" });
    expect(trace.startTime).toBeGreaterThanOrEqual(before - 10);
    expect(trace.startTime).toBeLessThanOrEqual(Date.now() + 10);
    expect(trace.endTime).toBeUndefined();
  });
});

test("the options of a trace may be left out", async () => {
  expect(await withTrace("bare", () => TraceContext.current?.name)).toBe("bare");
  expect(await TraceContext.withTrace("bare", undefined, async () => currentTraceId()?.length)).toBe(32);
});

test("the current trace is known inside, across awaits and timers, and gone outside", async () => {
  expect(TraceContext.current).toBeUndefined();
  expect(currentTraceId()).toBeUndefined();
  expect(currentGroupId()).toBeUndefined();
  await withTrace("outer", { groupId: "g" }, async (trace) => {
    expect(TraceContext.current).toBe(trace);
    await sleep(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(TraceContext.current).toBe(trace);
    expect(currentTraceId()).toBe(trace.traceId);
    expect(currentGroupId()).toBe("g");
  });
  expect(TraceContext.current).toBeUndefined();
});

test("the result and the error of the work come through a trace, which ends either way", async () => {
  let failed: TraceContext | undefined;
  expect(await withTrace("good", async () => 42)).toBe(42);
  const failure = new Error("no");
  const rejected = withTrace("bad", async (trace) => {
    failed = trace;
    throw failure;
  });
  await expect(rejected).rejects.toBe(failure);
  expect(failed?.endTime).toBeGreaterThanOrEqual(failed?.startTime ?? Number.NaN);
});

test("work that throws at once rejects, never throws", async () => {
  const thrown = () => {
    throw new TypeError("at once");
  };
  await expect(withTrace("t", thrown)).rejects.toThrow("at once");
  await expect(withSpan("s", thrown)).rejects.toThrow("at once");
});

test("a trace inside a trace has its own id and spans, and the outer one comes back", async () => {
  await withTrace("outer", async (outer) => {
    await withSpan("before", async () => {
      await withTrace("inner", async (inner) => {
        expect(inner.traceId).not.toBe(outer.traceId);
        expect(TraceContext.current).toBe(inner);
        await withSpan("inside", (span) => expect(span.parentSpanId).toBeUndefined());
        expect(inner.getSpans().map((span) => span.name)).toEqual(["inside"]);
      });
      expect(TraceContext.current).toBe(outer);
    });
    expect(outer.getSpans().map((span) => span.name)).toEqual(["before"]);
  });
});

test("spans are collected in the order they start, whichever ends first", async () => {
  await withTrace("t", async (trace) => {
    const a = trace.span("a");
    const b = trace.span("b", { metadata: { n: 1 } });
    b.end();
    a.end("error");
    expect(trace.getSpans()).toEqual([a, b]);
    expect(trace.getSpans().map((span) => span.status)).toEqual(["error", "ok"]);
    expect(b.metadata).toEqual({ n: 1 });
  });
});

test("the list of spans is the caller's own copy", async () => {
  await withTrace("t", (trace) => {
    trace.span("a").end();
    trace.getSpans().pop();
    expect(trace.getSpans()).toHaveLength(1);
  });
});

test("a span of a trace takes its parent from the context, or the one it is given", async () => {
  await withTrace("t", async (trace) => {
    const top = trace.span("top");
    expect(top.parentSpanId).toBeUndefined();
    expect(trace.span("child", { parentSpanId: top.spanId }).parentSpanId).toBe(top.spanId);
    await withSpan("current", (span) => {
      expect(trace.span("inside").parentSpanId).toBe(span.spanId);
    });
  });
});

test("a span of a trace that is not current has no parent in the current one", async () => {
  const other = TraceContext.open("other");
  await withTrace("t", () =>
    withSpan("s", () => {
      const span = other.span("x");
      expect(span.parentSpanId).toBeUndefined();
      expect(span.traceId).toBe(other.traceId);
    }),
  );
});

test("adding a known span changes nothing; adding one made by hand lists and exports it once", async () => {
  const exporter = memoryExporter();
  await withTrace("t", { exporters: [exporter] }, (trace) => {
    const known = trace.span("known");
    trace.addSpan(known);
    trace.addSpan(known);
    expect(trace.getSpans()).toEqual([known]);
    const early = new TraceSpan({ name: "early", startTime: trace.startTime - 5, endTime: trace.startTime });
    trace.addSpan(early);
    trace.addSpan(early);
    expect(early.traceId).toBe(trace.traceId);
    expect(trace.getSpans().map((span) => span.name)).toEqual(["early", "known"]);
    known.end();
  });
  expect(exporter.spans.map((span) => span.name)).toEqual(["early", "known"]);
});

test("a span of another trace is not taken in, and onError hears of it", async () => {
  const errors: unknown[] = [];
  const other = TraceContext.open("other");
  await withTrace("t", { onError: (error) => errors.push(error) }, (trace) => {
    const foreign = other.span("foreign");
    trace.addSpan(foreign);
    expect(trace.getSpans()).toEqual([]);
    expect(foreign.traceId).toBe(other.traceId);
  });
  expect(errors).toHaveLength(1);
});

test("concurrent traces never share a span", async () => {
  const traces = await Promise.all(
    Array.from({ length: 50 }, (_, i) =>
      withTrace(`t${i}`, { groupId: `g${i}` }, async (trace) => {
        for (let step = 0; step < 5; step++) {
          await withSpan(`${i}.${step}`, async () => {
            await (step % 2 === 0 ? tick() : sleep(1));
            expect(TraceContext.current).toBe(trace);
            expect(currentGroupId()).toBe(`g${i}`);
          });
        }
        return trace;
      }),
    ),
  );
  traces.forEach((trace, i) => {
    expect(trace.getSpans().map((span) => span.name)).toEqual([0, 1, 2, 3, 4].map((step) => `${i}.${step}`));
  });
  expect(new Set(traces.map((trace) => trace.traceId)).size).toBe(50);
});

test("metadata is kept as a copy; what the caller changes later does not show", async () => {
  const metadata: Record<string, number> = { a: 1 };
  await withTrace("t", { metadata }, async (trace) => {
    const span = trace.span("made by hand", { metadata });
    await withSpan("wrapped", { metadata }, (wrapped) => {
      metadata.a = 2;
      for (const { metadata } of [trace, span, wrapped]) expect(metadata).toEqual({ a: 1 });
    });
  });
});

test("the duration of a trace grows until it ends, then stands still", async () => {
  const trace = TraceContext.open("t");
  const first = trace.duration;
  await sleep(5);
  expect(trace.duration).toBeGreaterThan(first);
  trace.end();
  const last = trace.duration;
  expect(trace.endTime).toBe(trace.startTime + last);
  await sleep(2);
  trace.end();
  expect(trace.duration).toBe(last);
});

test("a trace runs a callback that another context calls", async () => {
  const trace = TraceContext.open("t");
  const emitter = new EventEmitter();
  emitter.on("event", () => trace.run(() => trace.span(`heard in ${TraceContext.current?.name}`).end()));
  emitter.emit("event");
  expect(trace.getSpans().map((span) => span.name)).toEqual(["heard in t"]);
});

test("a trace as JSON holds itself and its spans", async () => {
  await withTrace("t", { groupId: "g" }, (trace) => {
    trace.span("a").end();
    const data = JSON.parse(JSON.stringify(trace));
    expect(data).toMatchObject({
      name: "t",
      groupId: "g",
      traceId: trace.traceId,
      spans: [{ name: "a", status: "ok" }],
    });
  });
});
