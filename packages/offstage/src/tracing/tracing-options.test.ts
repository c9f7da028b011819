import { afterEach, expect, test, vi } from "vitest";
import { batched } from "./batched.ts";
import { memoryExporter } from "./exporters/memory.ts";
import type { SpanExporter } from "./span-exporter.ts";
import { startRootSpan, TraceContext } from "./trace-context.ts";
import { runInScope } from "./trace-span.ts";
import { configureTracing, flushTracing, shutdownTracing } from "./trace-state.ts";
import { withSpan, withTrace } from "./with-span.ts";

afterEach(() => configureTracing());

const idle = { async flush() {}, async shutdown() {} };

test("the exporters of the process get the spans of every trace", async () => {
  const exporter = memoryExporter();
  configureTracing({ exporters: [exporter] });
  await withSpan("alone", async () => {});
  await withTrace("t", () => withSpan("inside", async () => {}));
  expect(exporter.spans.map((span) => span.name)).toEqual(["alone", "inside"]);
});

test("the exporters of a trace replace those of the process, for traces inside it, too", async () => {
  const everywhere = memoryExporter();
  const own = memoryExporter();
  configureTracing({ exporters: [everywhere] });
  await withTrace("t", { exporters: [own] }, () => withTrace("inner", () => withSpan("s", async () => {})));
  expect([everywhere.spans.length, own.spans.length]).toEqual([0, 1]);
});

test("tracing that is off for the process is off everywhere, and work still gets a span", async () => {
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
  expect(runInScope(run, () => TraceContext.current)).toBeUndefined();
  expect(exporter.spans).toEqual([]);
});

test("tracing that is off for one trace or run is off inside it, and only there", async () => {
  const exporter = memoryExporter();
  configureTracing({ exporters: [exporter] });
  await withTrace("quiet", { enabled: false }, () => withSpan("hidden", async () => {}));
  for (const tracing of [false, { enabled: false }] as const) {
    const run = startRootSpan({ name: "hidden run", tracing });
    await runInScope(run, () => withSpan("hidden", () => withTrace("inner", () => withSpan("hidden", async () => {}))));
    run.end();
  }
  await withTrace("loud", async (trace) => {
    const run = startRootSpan({ name: "hidden run", tracing: false });
    await runInScope(run, () =>
      withSpan("hidden", () => {
        expect(TraceContext.current).toBe(trace);
      }),
    );
    run.end();
    await withSpan("seen", async () => {});
  });
  expect(exporter.spans.map((span) => span.name)).toEqual(["seen"]);
});

test("sampling decides per trace, by its id, with the same result in every process", async () => {
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

test("spans inside a root span that is not sampled are not sampled either", async () => {
  const exporter = memoryExporter();
  configureTracing({ sample: 0, exporters: [exporter] });
  await withSpan("outer", async (outer) => {
    expect(TraceContext.current?.traceId).toBe(outer.traceId);
    await withSpan("inner", (inner) => expect(inner.traceId).toBe(outer.traceId));
  });
  expect(exporter.spans).toEqual([]);
});

test("a sampler can be a function; if it throws, the trace is recorded and the error reported", async () => {
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

test("an exporter that throws, rejects or hangs neither changes a result nor keeps spans from other exporters", async () => {
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

test("an onError that throws or rejects breaks nothing", async () => {
  const throwing: SpanExporter = {
    name: "x",
    ...idle,
    export: () => {
      throw new Error("no");
    },
  };
  const onErrors = [
    () => {
      throw new Error("ignored");
    },
    async () => {
      throw new Error("ignored");
    },
  ];
  for (const onError of onErrors) {
    configureTracing({ exporters: [throwing], onError });
    expect(await withSpan("s", async () => 1)).toBe(1);
  }
});

test("failures are printed by default, rate-limited", async () => {
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

test("a printed failure is redacted, inert and on one line", async () => {
  const print = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  const secret = "sk-abcdefghijklmnopqrstuvwxyz123456";
  const throwing: SpanExporter = {
    name: "x\u001b[2J",
    ...idle,
    export: () => {
      throw new Error(`refused ${secret}\nforged line`);
    },
  };
  configureTracing({ exporters: [throwing] });
  await withSpan("s", async () => {});
  expect(print.mock.calls).toEqual([
    ['"x␛[2J" failed (1 so far): refused [redacted] forged line', { type: "OffstageTracing" }],
  ]);
  print.mockRestore();
});

test("flushTracing and shutdownTracing never reject", async () => {
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

test("flushTracing gives up an exporter that hangs, and reports it", async () => {
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

test("the spans of an exporter's own work are not exported, batched or not", async () => {
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
