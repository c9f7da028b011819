// The contract of span exporters, as cases that any test framework can run.
import { deepEqual, equal, ok } from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { SpanData } from "../tracing/span-data.ts";
import type { SpanExporter } from "../tracing/span-exporter.ts";
import { type Claim, type ContractCase, caseOn } from "./contract-case.ts";

/** An exporter under test, with a way to read the spans it exported. */
export interface ExporterUnderTest {
  readonly exporter: SpanExporter;
  /** The names of the spans exported so far, in order. */
  exported(): readonly string[] | Promise<readonly string[]>;
  /** Cleans up after the case. */
  close?(): void | Promise<void>;
}

const checks: Readonly<Record<string, Claim<ExporterUnderTest>["claim"]>> = {
  "every span is exported once, in order": async ({ exporter, exported }) => {
    const [a, b, c] = ["a", "b", "c"].map((name, index) => sampleSpan(name, {}, index)) as [
      SpanData,
      SpanData,
      SpanData,
    ];
    await exporter.export([a, b]);
    await exporter.export([c]);
    await exporter.flush();
    deepEqual([...(await exported())], ["a", "b", "c"]);
  },
  "an empty batch exports nothing": async ({ exporter, exported }) => {
    await exporter.export([]);
    await exporter.flush();
    deepEqual([...(await exported())], []);
  },
  "a thousand spans are exported in order": async ({ exporter, exported }) => {
    const names = Array.from({ length: 1000 }, (_, i) => `span-${i}`);
    for (let i = 0; i < names.length; i += 100) {
      await exporter.export(names.slice(i, i + 100).map((name, index) => sampleSpan(name, {}, i + index)));
    }
    await exporter.flush();
    deepEqual([...(await exported())], names);
  },
  "exporting does not change a span": async ({ exporter }) => {
    const span = sampleSpan("frozen", { deep: { list: [1, "two", null] } });
    const before = JSON.stringify(span);
    await exporter.export([deepFreeze(span)]);
    await exporter.flush();
    equal(JSON.stringify(span), before);
  },
  "metadata that is not JSON neither throws nor keeps other spans from being exported": async ({
    exporter,
    exported,
  }) => {
    await exporter.export([sampleSpan("hostile", hostileMetadata()), sampleSpan("after")]);
    await exporter.flush();
    ok((await exported()).includes("after"));
  },
  "flush resolves repeatedly, even if there is nothing to do": async ({ exporter, exported }) => {
    await exporter.flush();
    await exporter.flush();
    deepEqual([...(await exported())], []);
  },
  "shutdown exports pending spans first": async ({ exporter, exported }) => {
    await exporter.export([sampleSpan("last")]);
    await exporter.shutdown();
    deepEqual([...(await exported())], ["last"]);
  },
  "shutdown is idempotent, and spans after it are ignored": async ({ exporter, exported }) => {
    await exporter.export([sampleSpan("before")]);
    await exporter.shutdown();
    await exporter.shutdown();
    await exporter.export([sampleSpan("late")]);
    await exporter.flush();
    deepEqual([...(await exported())], ["before"]);
  },
  "an exporter has a name": async ({ exporter }) => {
    ok(exporter.name.length > 0);
  },
};

/** Returns the cases. `open` makes a new exporter for each of them. */
export function spanExporterContract(open: () => ExporterUnderTest | Promise<ExporterUnderTest>): ContractCase[] {
  return Object.entries(checks).map(([name, claim]) => caseOn(open, { name, claim }));
}

// Spans that are exported one after another begin one after another: a store lists them by their start.
function sampleSpan(name: string, metadata: SpanData["metadata"] = {}, index = 0): SpanData {
  const startTime = 1_750_000_000_000 + index;
  const spanId = randomBytes(8).toString("hex");
  const place = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId, traceName: "contract" };
  return { ...place, name, kind: "custom", startTime, endTime: startTime + 1, duration: 1, status: "ok", metadata };
}

function hostileMetadata(): SpanData["metadata"] {
  const hostile: Record<string, unknown> = { big: 1n, text: "\ud800 \u0000 \u001b[31m", none: undefined, call() {} };
  hostile.self = hostile;
  Object.defineProperty(hostile, "trap", {
    enumerable: true,
    get() {
      throw new Error("do not look");
    },
  });
  return hostile as SpanData["metadata"];
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null)
    for (const inner of Object.values(Object.freeze(value))) deepFreeze(inner);
  return value;
}
