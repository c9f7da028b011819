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

test("the options of a trace are optional", async () => {
  expect(await withTrace("bare", () => TraceContext.current?.name)).toBe("bare");
  expect(await TraceContext.withTrace("bare", undefined, async () => currentTraceId()?.length)).toBe(32);
});

test("the current trace follows awaits and timers, and is undefined outside", async () => {
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

test("withTrace returns the result of its work or rejects with its error, and the trace ends either way", async () => {
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

test("work that throws synchronously rejects", async () => {
  const thrown = () => {
    throw new TypeError("at once");
  };
  await expect(withTrace("t", thrown)).rejects.toThrow("at once");
  await expect(withSpan("s", thrown)).rejects.toThrow("at once");
});

test("a trace inside a trace has its own id and spans, and the outer one is current again after it", async () => {
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

test("spans are listed in the order they start, whichever ends first", async () => {
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

test("getSpans returns a copy", async () => {
  await withTrace("t", (trace) => {
    trace.span("a").end();
    trace.getSpans().pop();
    expect(trace.getSpans()).toHaveLength(1);
  });
});

test("the parent of a span is the current span, or the one it is given", async () => {
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

test("addSpan ignores a known span, and lists and exports one made by hand once", async () => {
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

test("a value that is not a span is refused by addSpan and reported to onError", async () => {
  const errors: unknown[] = [];
  await withTrace("t", { onError: (error) => errors.push(error) }, (trace) => {
    for (const value of [undefined, 5, {}]) trace.addSpan(value as never);
    expect(trace.getSpans()).toEqual([]);
  });
  expect(errors.map(String)).toEqual([
    expect.stringContaining("found undefined"),
    expect.stringContaining("found 5"),
    expect.stringContaining("found object"),
  ]);
});

test.for([
  { headers: null },
  { headers: 5 },
  { headers: "traceparent" },
  { headers: { get: () => ({}) } },
  { headers: { get: () => Promise.reject(new Error("no")).catch(() => {}) } },
  {
    headers: {
      get() {
        throw new Error("no");
      },
    },
  },
  { traceparent: 5 },
  { groupId: null },
  { metadata: "text" },
  {
    metadata: {
      get trap() {
        throw new Error("no");
      },
    },
  },
])("telemetry data that does not fit is dropped, and the work runs: case %#", async (options) => {
  const work = async () => withSpan("s", { metadata: options.metadata } as never, async () => currentGroupId());
  expect(await withTrace("t", options as never, work)).toBeUndefined();
});

test("a trace and a span without a name are called unnamed", async () => {
  await withTrace(undefined as never, async (trace) => {
    await withSpan(5 as never, (span) => expect([trace.name, span.name]).toEqual(["unnamed", "unnamed"]));
  });
});

test("a missing function is refused with a sentence", async () => {
  await expect(withSpan("s", {}, undefined as never)).rejects.toThrow(
    expect.objectContaining({
      code: "invalid-argument",
      message: "withSpan() needs a function to run; found undefined.",
    }),
  );
  await expect(withTrace("t", undefined as never)).rejects.toThrow("withTrace() needs a function to run");
  expect(() => TraceContext.open("t").run(5 as never)).toThrow("trace.run() needs a function to run; found 5.");
});

test("unknown options of traces and spans are refused", async () => {
  const work = async () => {};
  await expect(withSpan("s", { metdata: {} } as never, work)).rejects.toThrow(
    'Unknown span option "metdata". Valid options: kind, parentSpanId, metadata, signal.',
  );
  await expect(withTrace("t", { group: "g" } as never, work)).rejects.toThrow('Unknown trace option "group".');
  await expect(withTrace("t", null as never, work)).rejects.toThrow("The trace options must be an object; found null.");
  await expect(withTrace("t", { sample: 2 }, work)).rejects.toThrow('"sample" must be a share from 0 to 1');
  expect(() => TraceContext.open("t", { nam: "x" } as never)).toThrow('Unknown trace option "nam".');
  expect(() => TraceContext.open("t").span("s", { parent: "x" } as never)).toThrow('Unknown span option "parent".');
  expect(() => TraceContext.fromHeaders({}, { nam: "x" } as never)).toThrow('Unknown trace option "nam".');
});

test("a span of another trace is refused and reported to onError", async () => {
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

test("metadata is copied: later changes by the caller do not show", async () => {
  const metadata: Record<string, number> = { a: 1 };
  await withTrace("t", { metadata }, async (trace) => {
    const span = trace.span("made by hand", { metadata });
    await withSpan("wrapped", { metadata }, (wrapped) => {
      metadata.a = 2;
      for (const { metadata } of [trace, span, wrapped]) expect(metadata).toEqual({ a: 1 });
    });
  });
});

test("the duration of a trace grows until the trace ends", async () => {
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

test("trace.run makes the trace current in a callback that another context calls", async () => {
  const trace = TraceContext.open("t");
  const emitter = new EventEmitter();
  emitter.on("event", () => trace.run(() => trace.span(`called in ${TraceContext.current?.name}`).end()));
  emitter.emit("event");
  expect(trace.getSpans().map((span) => span.name)).toEqual(["called in t"]);
});

test("a trace as JSON includes its spans", async () => {
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
