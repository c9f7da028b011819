import { AsyncLocalStorage } from "node:async_hooks";
import { EventEmitter } from "node:events";
import { Readable } from "node:stream";
import { setImmediate as tick } from "node:timers/promises";
import { expect, test } from "vitest";
import { checkSpans } from "../testing/check-spans.ts";
import { memoryExporter } from "./exporters/memory.ts";
import { startRootSpan, TraceContext } from "./trace-context.ts";
import { currentScope, runInScope, startSpan, type TraceSpan } from "./trace-span.ts";
import { withSpan, withTrace } from "./with-span.ts";

const RUNS = 1000;
const CHECKS_PER_RUN = 1000;

/** A pool that runs every task in the async context of its worker, as a careless library would. */
function carelessPool(size: number): (task: () => Promise<void>) => Promise<void> {
  const waiting: (() => Promise<void>)[] = [];
  const work = async (): Promise<void> => {
    for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) await task();
    idle += 1;
  };
  let idle = size;
  return (task) =>
    new Promise((resolve, reject) => {
      waiting.push(() => task().then(resolve, reject));
      if (idle > 0) {
        idle -= 1;
        void work();
      }
    });
}

async function* numbers(count: number, look: () => void): AsyncGenerator<number> {
  for (let i = 0; i < count; i++) {
    look();
    yield i;
    await undefined;
    look();
  }
}

test("a thousand concurrent runs in a million checks never see each other's context", async () => {
  let looks = 0;
  let strays = 0;
  const pool = carelessPool(8);
  const bus = new EventEmitter().setMaxListeners(0);

  const lookFor = (trace: TraceContext, span: TraceSpan) => (): void => {
    looks += 1;
    if (TraceContext.current !== trace || currentScope() !== span) strays += 1;
  };

  async function ways(trace: TraceContext, run: number): Promise<void> {
    await withSpan("generator", async (span) => {
      const look = lookFor(trace, span);
      for await (const _ of numbers(100, look)) look();
    });
    await withSpan("stream", async (span) => {
      const look = lookFor(trace, span);
      for await (const _ of Readable.from(numbers(30, look))) look();
    });
    await withSpan("emitter", async (span) => {
      const look = lookFor(trace, span);
      bus.on(`event-${run}`, AsyncLocalStorage.bind(look));
      for (let i = 0; i < 100; i++) bus.emit(`event-${run}`);
      bus.removeAllListeners(`event-${run}`);
    });
    await withSpan("pool", async (parent) => {
      const task = async (): Promise<void> => {
        const span = startSpan(parent, { name: "task" });
        const look = lookFor(trace, span);
        await runInScope(span, async () => {
          for (let i = 0; i < 25; i++) await withSpan("inner", (inner) => lookFor(trace, inner)());
          look();
          await tick();
          look();
        });
        span.end();
      };
      await Promise.all(Array.from({ length: 8 }, () => pool(task)));
    });
  }

  async function run(i: number): Promise<TraceContext> {
    return withTrace(`run ${i}`, async (trace) => {
      const before = looks;
      await ways(trace, i);
      await withSpan("rest", async (span) => {
        const look = lookFor(trace, span);
        for (let done = before; done < before + 300; done++) {
          await undefined;
          look();
        }
      });
      return trace;
    });
  }

  const traces = await Promise.all(Array.from({ length: RUNS }, (_, i) => run(i)));
  expect(strays).toBe(0);
  expect(looks).toBeGreaterThanOrEqual(RUNS * CHECKS_PER_RUN);
  expect(traces.flatMap((trace) => checkSpans(trace.getSpans()))).toEqual([]);
  for (const trace of traces) expect(trace.getSpans()).toHaveLength(5 + 8 * 26);
});

test("tasks started together are siblings under the span that started them", async () => {
  await withTrace("t", async (trace) => {
    await withSpan("parent", async () => {
      await Promise.all(Array.from({ length: 20 }, (_, i) => withSpan(`child ${i}`, () => tick())));
    });
    const [parent, ...children] = trace.getSpans();
    expect(children).toHaveLength(20);
    for (const child of children) expect(child.parentSpanId).toBe(parent?.spanId);
  });
});

test("a span started in one context and entered in another keeps its parent", async () => {
  const exporter = memoryExporter();
  const run = startRootSpan({ name: "run", kind: "run", tracing: { exporters: [exporter] } });
  await withTrace("elsewhere", async () => {
    const step = startSpan(run, { name: "step", kind: "step" });
    await runInScope(step, () => withSpan("inside", (span) => expect(span.parentSpanId).toBe(step.spanId)));
    step.end();
  });
  run.end();
  expect(exporter.spans.map((span) => [span.name, span.traceName])).toEqual([
    ["inside", "run"],
    ["step", "run"],
    ["run", "run"],
  ]);
  expect(checkSpans(exporter.spans)).toEqual([]);
});

test("an iterator that is abandoned halfway leaves no context behind", async () => {
  await withTrace("t", async (trace) => {
    await withSpan("s", async (span) => {
      const iterator = numbers(10, () => expect(currentScope()).toBe(span));
      await iterator.next();
    });
    expect(currentScope()).toBe(trace);
  });
  expect(currentScope()).toBeUndefined();
});

test("a trace or span that is still running is not current for its caller", async () => {
  const pending = withTrace("t", () => withSpan("s", () => tick()));
  expect(currentScope()).toBeUndefined();
  await pending;
  expect(currentScope()).toBeUndefined();
});

test("a million spans in one trace are kept and listed in linear time", () => {
  const timeFor = (count: number): number => {
    const trace = TraceContext.open("big");
    const start = performance.now();
    for (let i = 0; i < count; i++) startSpan(trace, { name: "s" }).end();
    expect(trace.getSpans()).toHaveLength(count);
    return performance.now() - start;
  };
  timeFor(50_000);
  // Eight times as many spans take sixty-four times as long if anything is quadratic. The best of three, since the machine may be busy.
  let ratio = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 3 && ratio >= 32; attempt++)
    ratio = Math.min(ratio, timeFor(1_000_000) / Math.max(timeFor(125_000), timeFor(125_000)));
  expect(ratio).toBeLessThan(32);
});
