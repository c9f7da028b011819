import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { memoryStore } from "../../sessions/open-store.ts";
import { checkSpans } from "../../testing/check-spans.ts";
import { type ExporterUnderTest, spanExporterContract } from "../../testing/span-exporter-contract.ts";
import type { SpanData } from "../span-data.ts";
import { TraceSpan } from "../trace-span.ts";
import { withSpan, withTrace } from "../with-span.ts";
import { consoleExporter } from "./console.ts";
import { jsonlExporter } from "./jsonl.ts";
import { memoryExporter } from "./memory.ts";
import { storeExporter } from "./store.ts";

function readLines(path: string): SpanData[] {
  const text = readFileSync(path, { encoding: "utf8", flag: "a+" });
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

function folder(): string {
  return mkdtempSync(join(tmpdir(), "offstage-spans-"));
}

const subjects: Record<string, () => ExporterUnderTest> = {
  memory() {
    const exporter = memoryExporter();
    return { exporter, exported: () => exporter.spans.map((span) => span.name) };
  },
  jsonl() {
    const parent = folder();
    const path = join(parent, "new", "spans.jsonl");
    const exporter = jsonlExporter({ path });
    const exported = async () => {
      await exporter.flush();
      try {
        return readLines(path).map((span) => span.name);
      } catch {
        return [];
      }
    };
    return { exporter, exported, close: () => rmSync(parent, { recursive: true }) };
  },
  console() {
    const text: string[] = [];
    const exporter = consoleExporter({ color: false, write: (more) => text.push(more) });
    return { exporter, exported: () => [...text.join("").matchAll(/^. (\S+)/gm)].map(([, name]) => name ?? "") };
  },
  store() {
    const store = memoryStore();
    const exporter = storeExporter(store);
    const exported = async () => {
      const spans = await store.spans.list({ traceId: "4bf92f3577b34da6a3ce929d0e0e4736" });
      return spans.map((span) => span.name);
    };
    return { exporter, exported, close: () => store.close() };
  },
};

for (const [name, open] of Object.entries(subjects)) {
  test.each(spanExporterContract(open))(`${name}: $name`, ({ run }) => run());
}

test("memoryExporter keeps the latest spans up to its limit", () => {
  const exporter = memoryExporter({ limit: 3 });
  for (let i = 0; i < 10_000; i++) void exporter.export([new TraceSpan({ name: `${i}`, endTime: Date.now() })]);
  expect(exporter.spans.map((span) => span.name)).toEqual(["9997", "9998", "9999"]);
  exporter.clear();
  expect(exporter.spans).toEqual([]);
});

test.for([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "5", null])("memoryExporter refuses the limit %j", (limit) => {
  expect(() => memoryExporter({ limit: limit as number })).toThrow(
    expect.objectContaining({ code: "invalid-argument" }),
  );
});

test("jsonlExporter writes spans that read back as they were, into a file that only its owner can read", async () => {
  const parent = folder();
  onTestFinished(() => rmSync(parent, { recursive: true }));
  const path = join(parent, "spans.jsonl");
  const memory = memoryExporter();
  const jsonl = jsonlExporter({ path });
  await withTrace("t", { groupId: "g", exporters: [memory, jsonl] }, async () => {
    await withSpan("a", { metadata: { list: [1, { deep: null }] } }, () => withSpan("b", async () => {}));
  });
  await jsonl.shutdown();
  expect(readLines(path)).toEqual(JSON.parse(JSON.stringify(memory.spans)));
  expect(checkSpans(readLines(path))).toEqual([]);
  if (process.platform !== "win32") expect(statSync(path).mode & 0o077).toBe(0);
});

test("jsonlExporter rejects and gives up spans it cannot write, and writes again when it can", async () => {
  const parent = folder();
  onTestFinished(() => rmSync(parent, { recursive: true }));
  const path = join(parent, "spans.jsonl");
  const jsonl = jsonlExporter({ path });
  const make = (name: string): TraceSpan => new TraceSpan({ name, endTime: Date.now() });
  mkdirSync(path);
  await expect(jsonl.export([make("lost")])).rejects.toThrow("EISDIR");
  await jsonl.flush();
  rmSync(path, { recursive: true });
  await jsonl.export([make("kept")]);
  expect(readLines(path).map((span) => span.name)).toEqual(["kept"]);
});

test("storeExporter reports a store that fails, never waits for it, and uses it again when it works", async () => {
  const kept: string[] = [];
  const reported: string[] = [];
  let isBroken = true;
  const add = async (spans: readonly SpanData[]) => {
    if (isBroken) throw new Error("the disk is full");
    kept.push(...spans.map((span) => span.name));
  };
  const onError = (error: unknown, source: string) => reported.push(`${source}: ${error}`);
  const exporter = storeExporter({ spans: { add } }, { onError, maxPending: 2 });
  const make = (name: string): TraceSpan => new TraceSpan({ name, endTime: Date.now() });
  expect(exporter.export([make("lost"), make("lost too"), make("one too many")])).toBeUndefined();
  await exporter.flush();
  expect(reported).toEqual(["store: Error: the disk is full"]);
  expect(exporter.stats()).toEqual({ exported: 0, dropped: 3, pending: 0 });
  isBroken = false;
  void exporter.export([make("kept")]);
  await exporter.flush();
  expect(kept).toEqual(["kept"]);
  expect(() => storeExporter({} as never)).toThrow("storeExporter() takes an open store");
});

test("storeExporter writes many spans at once, without secrets", async () => {
  const writes: (readonly SpanData[])[] = [];
  const exporter = storeExporter({ spans: { add: async (spans) => void writes.push(spans) } });
  await withTrace("t", { exporters: [exporter] }, async () => {
    for (let i = 0; i < 10; i++) await withSpan("pay", { metadata: { apiKey: "sk-123" } }, async () => {});
  });
  await exporter.shutdown();
  expect(writes.map((spans) => spans.length)).toEqual([10]);
  expect(JSON.stringify(writes)).not.toContain("sk-123");
});

test("exporters refuse unknown and unfit options", () => {
  expect(() => memoryExporter({ max: 5 } as never)).toThrow(
    'Unknown memoryExporter option "max". Valid options: limit.',
  );
  expect(() => jsonlExporter({ path: "x", file: "y" } as never)).toThrow('Unknown jsonlExporter option "file".');
  expect(() => jsonlExporter({} as never)).toThrow("jsonlExporter() needs a path");
  expect(() => jsonlExporter(undefined as never)).toThrow("The jsonlExporter options must be an object");
  expect(() => consoleExporter({ redact: true } as never)).toThrow('"redact" must be a function; found true.');
  expect(() => storeExporter(memoryStore(), { batch: 5 } as never)).toThrow('Unknown storeExporter option "batch".');
  expect(() => storeExporter(memoryStore(), { maxPending: Number.NaN })).toThrow('"maxPending" must be a whole number');
});

test("consoleExporter prints a tree when its root ends, and spans without a root at flush", async () => {
  const text: string[] = [];
  const exporter = consoleExporter({ color: false, write: (more) => text.push(more) });
  await withTrace("t", { exporters: [exporter] }, async (trace) => {
    await withSpan("run", { kind: "run" }, async () => {
      await withSpan("step", { kind: "step" }, async () => {
        expect(text).toEqual([]);
      });
    });
    expect(
      text
        .join("")
        .split("\n")
        .map((line) => line.slice(0, 8).trimEnd()),
    ).toEqual(["✓ run", "✓   step", ""]);
    text.length = 0;
    const late = trace.span("late", { parentSpanId: "00f067aa0ba902b7" });
    late.end();
  });
  expect(text).toEqual([]);
  await exporter.flush();
  expect(text.join("")).toContain("✓ late");
});
