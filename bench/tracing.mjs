// The cost of a span: nanoseconds of processor time and bytes, beside the limit of the engine and OpenTelemetry, all in
// one process. Processor time, since other work on a shared machine would be counted by the clock.
// Usage: node --expose-gc tracing.mjs [--quick]
import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";
import { createRequire } from "node:module";
import { LIMITS } from "./lib/performance-targets.mjs";
import { orderOf } from "./lib/rounds.mjs";
import { readOptions } from "./lib/settings.mjs";
import { median, shown, shownRatio } from "./lib/statistics.mjs";
import { printTable } from "./lib/table.mjs";
import { printVerdicts } from "./lib/verdicts.mjs";

const offstage = await loadOffstage();
const SPANS_PER_TREE = 21;
const LIMIT = "async context + push, hex ids (limit)";
const OURS = "offstage withSpan, in memory";
const OTEL_BATCH = "otel SDK, batch + in memory";
const METADATA = { "tool.name": "x", tokens: 10 };

const options = readOptions();
const rounds = options.quick ? 13 : 33;
const trees = 2000;
const memory = offstage.memoryExporter();
const otel = startOtel();
const contenders = { ...limits(), ...ourOwn(), ...otel.contenders };
const rounded = await measureTimes();
const times = Object.fromEntries(Object.entries(rounded).map(([name, values]) => [name, median(values)]));
const bytes = await measureBytes();
printReport();

// It looks at single files, so it runs the sources as they are.
async function loadOffstage() {
  const room = new URL("../packages/offstage/src/tracing/", import.meta.url);
  const files = [
    "with-span.ts",
    "trace-context.ts",
    "trace-span.ts",
    "trace-state.ts",
    "batched.ts",
    "exporters/memory.ts",
  ];
  const modules = await Promise.all(files.map((file) => import(new URL(file, room))));
  return Object.assign({}, ...modules);
}

/** One root with ten children, each with one child: 21 spans through `span(name, work)`. */
function tree(span) {
  return () =>
    span("root", async () => {
      for (let i = 0; i < 10; i++) {
        await span("step", () => span("tool", async () => 1));
      }
    });
}

/** The least that a tracer can do: enter a context, take two times and an id, keep the record. */
function limits() {
  const storage = new AsyncLocalStorage();
  const kept = [];
  let pool = randomBytes(8192);
  let used = 0;
  const id = () => {
    if (used > 8184) {
      pool = randomBytes(8192);
      used = 0;
    }
    used += 8;
    return pool.hexSlice(used - 8, used);
  };
  const span = (name, work) => {
    const parent = storage.getStore();
    const traceId = parent?.traceId ?? id() + id();
    const record = {
      id: id(),
      parent: parent?.id,
      traceId,
      name,
      start: performance.now(),
      end: 0,
      attributes: { ...METADATA },
    };
    return storage.run(record, async () => {
      try {
        return await work();
      } finally {
        record.end = performance.now();
        kept.push(record);
      }
    });
  };
  return {
    "no tracing": { run: tree((_, work) => work()) },
    [LIMIT]: { run: tree(span), reset: () => kept.splice(0) },
  };
}

function ourOwn() {
  const run = tree((name, work) => offstage.withSpan(name, { metadata: { ...METADATA } }, work));
  const batched = offstage.batched(memory, { maxPending: 1e6, delayMs: 1e6 });
  const prepare = (tracing) => () => {
    offstage.configureTracing(tracing);
    memory.clear();
  };
  return {
    [OURS]: { run, reset: prepare({ exporters: [memory] }) },
    "offstage withSpan, batched": { run, reset: prepare({ exporters: [batched] }), settle: () => batched.flush() },
    "offstage withSpan, no exporter": { run, reset: prepare({}) },
    "offstage explicit parents, in memory": { run: explicitTree, reset: prepare({ exporters: [memory] }) },
    "offstage off": { run, reset: prepare({ enabled: false }) },
    "offstage explicit parents, off": { run: explicitTree, reset: prepare({ enabled: false }) },
  };
}

/** The same tree the way the agent loop makes it: parents handed on, no async context. */
async function explicitTree() {
  const { startRootSpan, startSpan } = offstage;
  const root = startRootSpan({ name: "root", kind: "run", metadata: { ...METADATA } });
  for (let i = 0; i < 10; i++) {
    const step = startSpan(root, { name: "step", kind: "step", metadata: { ...METADATA } });
    const tool = startSpan(step, { name: "tool", kind: "tool", metadata: { ...METADATA } });
    await (async () => 1)();
    tool.end();
    step.end();
  }
  root.end();
}

function startOtel() {
  const load = createRequire(new URL("../interop/otel-sdk-2/package.json", import.meta.url));
  const { context, trace } = load("@opentelemetry/api");
  const sdk = load("@opentelemetry/sdk-trace-node");
  const { AsyncLocalStorageContextManager } = createRequire(load.resolve("@opentelemetry/sdk-trace-node"))(
    "@opentelemetry/context-async-hooks",
  );
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const contender = (processorOf) => {
    const exporter = new sdk.InMemorySpanExporter();
    const provider = new sdk.BasicTracerProvider({ spanProcessors: [processorOf(exporter)] });
    return {
      run: otelTree(provider.getTracer("bench")),
      reset: () => exporter.reset(),
      settle: () => provider.forceFlush(),
    };
  };
  const batch = { maxQueueSize: 1e6, maxExportBatchSize: 512, scheduledDelayMillis: 1e6 };
  return {
    contenders: {
      "otel api, no SDK": { run: otelTree(trace.getTracer("none")) },
      [OTEL_BATCH]: contender((exporter) => new sdk.BatchSpanProcessor(exporter, batch)),
      "otel SDK, simple + in memory": contender((exporter) => new sdk.SimpleSpanProcessor(exporter)),
    },
  };
}

function otelTree(tracer) {
  return tree((name, work) =>
    tracer.startActiveSpan(name, async (span) => {
      try {
        span.setAttributes(METADATA);
        return await work();
      } finally {
        span.end();
      }
    }),
  );
}

/** Nanoseconds per span in each round, by contender. */
async function measureTimes() {
  const found = Object.fromEntries(Object.keys(contenders).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, { run, reset, settle }] of orderOf(Object.entries(contenders), round)) {
      reset?.();
      globalThis.gc?.();
      const start = process.threadCpuUsage();
      for (let i = 0; i < trees; i++) {
        await run();
      }
      await settle?.();
      const { user, system } = process.threadCpuUsage(start);
      if (round > 2) {
        found[name].push(((user + system) * 1000) / (trees * SPANS_PER_TREE));
      }
      reset?.();
    }
  }
  return found;
}

/** The median over the rounds of what `name` cost against `base` in the same round. */
function ratio(name, base) {
  return median(rounded[name].map((value, round) => value / rounded[base][round]));
}

/** Bytes kept per span, by contender; needs --expose-gc. */
async function measureBytes() {
  if (globalThis.gc === undefined) {
    return {};
  }
  const found = {};
  for (const name of [LIMIT, OURS, "otel SDK, simple + in memory"]) {
    const { run, reset } = contenders[name];
    reset();
    globalThis.gc();
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < 2000; i++) {
      await run();
    }
    globalThis.gc();
    found[name] = (process.memoryUsage().heapUsed - before) / (2000 * SPANS_PER_TREE);
    reset();
  }
  return found;
}

function printReport() {
  const rows = Object.keys(contenders).map((name) => [
    name,
    shown(times[name]),
    shownRatio(ratio(name, LIMIT), 1),
    shown(bytes[name]),
    shownRatio(bytes[name], bytes[LIMIT]),
  ]);
  printTable("Per span", ["", "ns", "x limit", "bytes kept", "x limit"], rows);
  printVerdicts([{ ...LIMITS.span, measured: ratio(OURS, OTEL_BATCH) }]);
}
