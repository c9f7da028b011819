import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { spanExporterContract } from "../testing/span-exporter-contract.ts";
import { batched } from "./batched.ts";
import { memoryExporter } from "./exporters/memory.ts";
import type { SpanData } from "./span-data.ts";
import type { SpanExporter } from "./span-exporter.ts";
import { TraceSpan } from "./trace-span.ts";
import { configureTracing } from "./trace-state.ts";

const quiet = { onError() {} };

function spans(count: number): SpanData[] {
  return Array.from({ length: count }, (_, i) => new TraceSpan({ name: `${i}`, endTime: Date.now() }));
}

function exporter(take: (spans: readonly SpanData[]) => void | Promise<void>): SpanExporter {
  return { name: "test", export: take, async flush() {}, async shutdown() {} };
}

test.each(
  spanExporterContract(() => {
    const memory = memoryExporter();
    return { exporter: batched(memory), exported: () => memory.spans.map((span) => span.name) };
  }),
)("batched: $name", ({ run }) => run());

test("spans are exported in batches, not at once", async () => {
  const sizes: number[] = [];
  const queue = batched(
    exporter((batch) => void sizes.push(batch.length)),
    { maxBatch: 10, delayMs: 60_000 },
  );
  void queue.export(spans(25));
  expect(sizes).toEqual([]);
  await queue.flush();
  expect(sizes).toEqual([10, 10, 5]);
  expect(queue.stats()).toEqual({ exported: 25, dropped: 0, pending: 0 });
});

test("a single span is exported after the delay, a full batch at once", async () => {
  const memory = memoryExporter();
  const slow = batched(memory, { delayMs: 20 });
  void slow.export(spans(1));
  await sleep(60);
  expect(memory.spans).toHaveLength(1);
  const full = batched(memory, { delayMs: 60_000, maxBatch: 5 });
  void full.export(spans(5));
  await sleep(20);
  expect(memory.spans).toHaveLength(6);
});

test("a full queue drops further spans and counts them", async () => {
  const queue = batched(
    exporter(() => {}),
    { maxPending: 100, delayMs: 60_000 },
  );
  void queue.export(spans(250));
  expect(queue.stats()).toEqual({ exported: 0, dropped: 150, pending: 100 });
  await queue.flush();
  expect(queue.stats()).toEqual({ exported: 100, dropped: 150, pending: 0 });
});

test("a failing exporter loses its batch, is reported, and gets the next batch", async () => {
  const errors: unknown[] = [];
  let calls = 0;
  const flaky = exporter(() => {
    calls += 1;
    if (calls === 1) throw new Error("down");
  });
  const queue = batched(flaky, { maxBatch: 10, onError: (error) => errors.push(error) });
  void queue.export(spans(20));
  await queue.flush();
  expect(queue.stats()).toEqual({ exported: 10, dropped: 10, pending: 0 });
  expect(errors).toHaveLength(1);
});

test("an exporter that hangs is given up at the deadline; flush and shutdown resolve in time", async () => {
  const queue = batched(
    exporter(() => new Promise(() => {})),
    { maxBatch: 5, timeoutMs: 50, ...quiet },
  );
  void queue.export(spans(20));
  const start = performance.now();
  await queue.flush();
  await queue.shutdown();
  expect(performance.now() - start).toBeLessThan(1000);
  const { exported, dropped, pending } = queue.stats();
  expect([exported, dropped, pending]).toEqual([0, 20, 0]);
});

test("shutdown meets its deadline even if the exporter's own shutdown hangs or throws", async () => {
  const hanging = { ...exporter(() => {}), shutdown: () => new Promise<void>(() => {}) };
  const throwing = { ...exporter(() => {}), shutdown: () => Promise.reject(new Error("no")) };
  for (const bad of [hanging, throwing]) {
    const queue = batched(bad, { timeoutMs: 30, ...quiet });
    void queue.export(spans(3));
    await queue.shutdown();
    expect(queue.stats()).toEqual({ exported: 3, dropped: 0, pending: 0 });
  }
});

test("spans after shutdown are counted as dropped", async () => {
  const queue = batched(memoryExporter());
  await queue.shutdown();
  void queue.export(spans(3));
  expect(queue.stats()).toEqual({ exported: 0, dropped: 3, pending: 0 });
});

test("the timer does not keep the process alive", () => {
  const before = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const queue = batched(memoryExporter(), { delayMs: 60_000 });
  void queue.export(spans(1));
  expect(process.getActiveResourcesInfo().filter((name) => name === "Timeout").length).toBe(before);
});

test("at every moment exported + dropped + pending is the number of spans received, whatever the exporter does", async () => {
  type Behaviour = "takes" | "throws" | "rejects" | "hangs" | "is slow";
  const behaviour = fc.constantFrom<Behaviour>("takes", "throws", "rejects", "hangs", "is slow");
  const action = fc.oneof(
    fc.record({ type: fc.constant("export" as const), count: fc.nat(30) }),
    fc.record({ type: fc.constant("flush" as const) }),
    fc.record({ type: fc.constant("wait" as const) }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(behaviour, { minLength: 1 }),
      fc.array(action),
      fc.boolean(),
      async (ways, actions, closes) => {
        let call = 0;
        const moody = exporter(async () => {
          const way = ways[call++ % ways.length];
          if (way === "throws" || way === "rejects") throw new Error(way);
          if (way === "hangs") await new Promise(() => {});
          if (way === "is slow") await sleep(1);
        });
        const queue = batched(moody, { maxPending: 40, maxBatch: 7, delayMs: 1, timeoutMs: 3, ...quiet });
        let ended = 0;
        const check = (): void => {
          const { exported, dropped, pending } = queue.stats();
          expect(exported + dropped + pending).toBe(ended);
          expect(pending).toBeLessThanOrEqual(40);
        };
        for (const { type, ...rest } of actions) {
          if (type === "flush") void queue.flush();
          if (type === "wait") await sleep(1);
          if (type === "export") {
            const batch = spans((rest as { count: number }).count);
            void queue.export(batch);
            ended += batch.length;
          }
          check();
        }
        await (closes ? queue.shutdown() : queue.flush());
        check();
        if (closes) expect(queue.stats().pending).toBe(0);
      },
    ),
    { numRuns: 60 },
  );
});

test.for([
  { maxPending: Number.NaN },
  { maxPending: Number.POSITIVE_INFINITY },
  { maxPending: 0 },
  { maxBatch: 0 },
  { maxBatch: 1.5 },
  { delayMs: -1 },
  { delayMs: Number.NaN },
  { timeoutMs: 0 },
  { timeoutMs: "5" as never },
  { onError: "print" as never },
  { maxpending: 5 } as never,
  null as never,
])("batched refuses the options %j", (options) => {
  expect(() => batched(memoryExporter(), options)).toThrow(expect.objectContaining({ code: "invalid-argument" }));
});

test("an infinite delay waits for a full batch or a flush", async () => {
  const memory = memoryExporter();
  const queue = batched(memory, { delayMs: Number.POSITIVE_INFINITY, timeoutMs: Number.POSITIVE_INFINITY });
  void queue.export(spans(1));
  await sleep(10);
  expect(memory.spans).toEqual([]);
  await queue.flush();
  expect(queue.stats()).toEqual({ exported: 1, dropped: 0, pending: 0 });
});

test("without an onError option, errors go to the onError of the process", async () => {
  const reported: string[] = [];
  const queue = batched(exporter(() => Promise.reject(new Error("no"))));
  configureTracing({ onError: (error, source) => reported.push(`${source}: ${String(error)}`) });
  try {
    void queue.export(spans(1));
    await queue.flush();
    expect(reported).toEqual(["test: Error: no"]);
  } finally {
    configureTracing();
  }
});
