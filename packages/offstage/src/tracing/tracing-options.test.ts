import { afterEach, expect, test, vi } from "vitest";
import { batched } from "./batched.ts";
import { memoryExporter } from "./exporters/memory.ts";
import type { SpanExporter } from "./span-exporter.ts";
import { TraceContext } from "./trace-context.ts";
import { configureTracing, flushTracing, shutdownTracing } from "./trace-state.ts";
import { runInSpan, startRootSpan, withSpan, withTrace } from "./with-span.ts";

afterEach(() => configureTracing());

const idle = { async flush() {}, async shutdown() {} };

test("exporters set once for the process get the spans of every trace", async () => {
  const exporter = memoryExporter();
  configureTracing({ exporters: [exporter] });
  await withSpan("alone", async () => {});
  await withTrace("t", () => withSpan("inside", async () => {}));
  expect(exporter.spans.map((span) => span.name)).toEqual(["alone", "inside"]);
});

test("a trace's own exporters stand in for the process's, for traces inside it too", async () => {
  const everywhere = memoryExporter();
  const own = memoryExporter();
  configureTracing({ exporters: [everywhere] });
  await withTrace("t", { exporters: [own] }, () => withTrace("inner", () => withSpan("s", async () => {})));
  expect([everywhere.spans.length, own.spans.length]).toEqual([0, 1]);
});

test("off for the process is off everywhere, and work still runs with a span in its hand", async () => {
  const exporter = memoryExporter();
  configureTracing({ enabled: false, exporters: [exporter] });
  const answer = await withSpan("s", (span) => {
    span.setMetadata({ a: 1 });
    span.end("error");
    return [span.recording, span.traceId, span.metadata];
  });
  expect(answer).toEqual([false, "0".repeat(32), {}]);
  await withTrace("t", { enabled: true, exporters: [exporter] }, async (trace) => {
    expect(trace.traceId).toMatch(/^(?!0+$)[0-9a-f]{32}$/);
    expect(await withSpan("s", (span) => span.traceId)).toBe(trace.traceId);
    trace.span("t").end();
    expect(trace.getSpans()).toEqual([]);
  });
  const run = startRootSpan({ name: "run" });
  expect(run.recording).toBe(false);
  expect(runInSpan(run, () => TraceContext.current)).toBeUndefined();
  expect(exporter.spans).toEqual([]);
});

test("off for one trace or one run is off for all inside it, and only there", async () => {
  const exporter = memoryExporter();
  configureTracing({ exporters: [exporter] });
  await withTrace("quiet", { enabled: false }, () => withSpan("hidden", async () => {}));
  for (const tracing of [false, { enabled: false }] as const) {
    const run = startRootSpan({ name: "hidden run", tracing });
    await runInSpan(run, () => withSpan("hidden", () => withTrace("inner", () => withSpan("hidden", async () => {}))));
    run.end();
  }
  await withTrace("loud", async (trace) => {
    const run = startRootSpan({ name: "hidden run", tracing: false });
    await runInSpan(run, () =>
      withSpan("hidden", () => {
        expect(TraceContext.current).toBe(trace);
      }),
    );
    run.end();
    await withSpan("seen", async () => {});
  });
  expect(exporter.spans.map((span) => span.name)).toEqual(["seen"]);
});

test("sampling decides per trace, by its id, the same everywhere", async () => {
  const exporter = memoryExporter();
  configureTracing({ sample: 0.25, exporters: [exporter] });
  for (let i = 0; i < 2000; i++) await withTrace("t", () => withSpan("a", () => withSpan("b", async () => {})));
  const traces = new Map<string, number>();
  for (const span of exporter.spans) traces.set(span.traceId, (traces.get(span.traceId) ?? 0) + 1);
  expect([...traces.values()].every((count) => count === 2)).toBe(true);
  expect(traces.size).toBeGreaterThan(380);
  expect(traces.size).toBeLessThan(620);
  for (const traceId of traces.keys()) expect(Number.parseInt(traceId.slice(-8), 16)).toBeLessThan(2 ** 30);
});

test("a span alone in an unsampled trace keeps what is inside it unsampled", async () => {
  const exporter = memoryExporter();
  configureTracing({ sample: 0, exporters: [exporter] });
  await withSpan("outer", async (outer) => {
    expect(TraceContext.current?.traceId).toBe(outer.traceId);
    await withSpan("inner", (inner) => expect(inner.traceId).toBe(outer.traceId));
  });
  expect(exporter.spans).toEqual([]);
});

test("a sampler may be a function; one that throws samples and is reported", async () => {
  const exporter = memoryExporter();
  const errors: string[] = [];
  const sample = ({ name }: { name: string }): boolean => {
    if (name === "broken") throw new Error("sampler");
    return name === "wanted";
  };
  configureTracing({ sample, exporters: [exporter], onError: (_, source) => errors.push(source) });
  for (const name of ["wanted", "unwanted", "broken"]) await withTrace(name, () => withSpan(name, async () => {}));
  expect(exporter.spans.map((span) => span.name)).toEqual(["wanted", "broken"]);
  expect(errors).toEqual(["sample"]);
});

test("an exporter that throws, rejects or hangs changes no result and keeps no span from the others", async () => {
  const errors: string[] = [];
  const good = memoryExporter();
  const bad: SpanExporter[] = [
    {
      name: "throws",
      ...idle,
      export: () => {
        throw new Error("thrown");
      },
    },
    { name: "rejects", ...idle, export: () => Promise.reject(new Error("rejected")) },
    { name: "hangs", ...idle, export: () => new Promise(() => {}) },
  ];
  configureTracing({ exporters: [...bad, good], onError: (_, source) => errors.push(source) });
  const work = () => withTrace("t", () => withSpan("a", () => withSpan("b", async () => 42)));
  expect(await work()).toBe(42);
  await new Promise((resolve) => setImmediate(resolve));
  expect(good.spans.map((span) => span.name)).toEqual(["b", "a"]);
  expect(errors.sort()).toEqual(["rejects", "rejects", "throws", "throws"]);
});

test("an onError that throws is the end of it", async () => {
  const throwing: SpanExporter = {
    name: "x",
    ...idle,
    export: () => {
      throw new Error("no");
    },
  };
  configureTracing({
    exporters: [throwing],
    onError: () => {
      throw new Error("never heard");
    },
  });
  expect(await withSpan("s", async () => 1)).toBe(1);
});

test("by default failures are printed, ever more rarely", async () => {
  const print = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  const throwing: SpanExporter = {
    name: "x",
    ...idle,
    export: () => {
      throw new Error("no");
    },
  };
  configureTracing({ exporters: [throwing] });
  for (let i = 0; i < 100; i++) await withSpan("s", async () => {});
  expect(print).toHaveBeenCalledTimes(7);
  print.mockRestore();
});

test("flush and shutdown of the process's exporters never reject", async () => {
  const errors: string[] = [];
  const flushed: string[] = [];
  const failing: SpanExporter = {
    name: "failing",
    export() {},
    flush: () => Promise.reject(new Error("no")),
    shutdown() {
      throw new Error("no");
    },
  };
  const good: SpanExporter = {
    ...memoryExporter(),
    async flush() {
      flushed.push("good");
    },
  };
  configureTracing({ exporters: [failing, good], onError: (_, source) => errors.push(source) });
  await flushTracing();
  await shutdownTracing();
  expect([errors, flushed]).toEqual([["failing", "failing"], ["good"]]);
});

test("an exporter that hangs is not waited for without end, and it is told", async () => {
  vi.useFakeTimers();
  try {
    const errors: unknown[] = [];
    const hanging: SpanExporter = { ...idle, name: "hanging", export() {}, flush: () => new Promise(() => {}) };
    configureTracing({ exporters: [hanging], onError: (error, source) => errors.push([source, String(error)]) });
    const flushed = flushTracing();
    await vi.advanceTimersByTimeAsync(15_000);
    await flushed;
    expect(errors).toEqual([["hanging", expect.stringContaining("flush took longer than 15000 ms")]]);
  } finally {
    vi.useRealTimers();
  }
});

test("what an exporter does is not traced itself, batched or not: it would go on without end", async () => {
  let count = 0;
  const exporter: SpanExporter = {
    ...idle,
    name: "traced",
    async export() {
      count++;
      if (count < 100) await withTrace("t", () => withSpan("send", async () => {}));
    },
  };
  const queue = batched(exporter, { delayMs: 60_000 });
  configureTracing({ exporters: [exporter, queue] });
  await withSpan("alone", async () => {});
  await withTrace("t", () => flushTracing());
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(count).toBe(2);
});
