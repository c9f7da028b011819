// What every span exporter must do, as data: cases that any test framework can run. No framework is needed to read it.
import { deepEqual, equal, ok } from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { SpanData } from "../tracing/span-data.ts";
import type { SpanExporter } from "../tracing/span-exporter.ts";
import { type Claim, type ContractCase, caseOn } from "./contract-case.ts";

/** An exporter under test, and a way to see what has left by it. */
export interface ExporterUnderTest {
  readonly exporter: SpanExporter;
  /** The names of the spans that have left so far, in order. */
  exported(): readonly string[] | Promise<readonly string[]>;
  /** Cleans up after the case. */
  close?(): void | Promise<void>;
}

const checks: Readonly<Record<string, Claim<ExporterUnderTest>["claim"]>> = {
  "every span leaves once, in the order spans were handed over": async ({ exporter, exported }) => {
    await exporter.export([sampleSpan("a"), sampleSpan("b")]);
    await exporter.export([sampleSpan("c")]);
    await exporter.flush();
    deepEqual([...(await exported())], ["a", "b", "c"]);
  },
  "an empty batch changes nothing": async ({ exporter, exported }) => {
    await exporter.export([]);
    await exporter.flush();
    deepEqual([...(await exported())], []);
  },
  "a thousand spans leave in order": async ({ exporter, exported }) => {
    const names = Array.from({ length: 1000 }, (_, i) => `span-${i}`);
    for (let i = 0; i < names.length; i += 100) {
      await exporter.export(names.slice(i, i + 100).map((name) => sampleSpan(name)));
    }
    await exporter.flush();
    deepEqual([...(await exported())], names);
  },
  "spans are not changed by leaving": async ({ exporter }) => {
    const span = sampleSpan("frozen", { deep: { list: [1, "two", null] } });
    const before = JSON.stringify(span);
    await exporter.export([deepFreeze(span)]);
    await exporter.flush();
    equal(JSON.stringify(span), before);
  },
  "metadata that is not JSON neither throws nor holds other spans back": async ({ exporter, exported }) => {
    await exporter.export([sampleSpan("hostile", hostileMetadata()), sampleSpan("after")]);
    await exporter.flush();
    ok((await exported()).includes("after"));
  },
  "flush resolves again and again, with nothing to do": async ({ exporter, exported }) => {
    await exporter.flush();
    await exporter.flush();
    deepEqual([...(await exported())], []);
  },
  "shutdown lets what was handed over leave first": async ({ exporter, exported }) => {
    await exporter.export([sampleSpan("last")]);
    await exporter.shutdown();
    deepEqual([...(await exported())], ["last"]);
  },
  "shutdown twice is shutdown once, and spans after it are ignored": async ({ exporter, exported }) => {
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

/** The cases; `open` makes a fresh exporter for each. */
export function spanExporterContract(open: () => ExporterUnderTest | Promise<ExporterUnderTest>): ContractCase[] {
  return Object.entries(checks).map(([name, claim]) => caseOn(open, { name, claim }));
}

function sampleSpan(name: string, metadata: SpanData["metadata"] = {}): SpanData {
  const startTime = 1_750_000_000_000;
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
