// Stores spans that belong to no run, by trace. The spans of a run are stored with its steps.
import { shownValue } from "../base/options.ts";
import { OffstageError } from "../errors.ts";
import type { SpanData } from "../tracing/span-data.ts";
import { decode } from "./message-rows.ts";
import { encodeWithSpans, isPackedSpans, unpackSpans } from "./packed-span.ts";
import { redactedSpans } from "./redaction.ts";
import { idKey, numberKey } from "./row-keys.ts";
import { otherForm, shaped } from "./shape.ts";
import type { StoreContext } from "./store-context.ts";
import type { RowPlace, Write } from "./store-driver.ts";

/** Stores spans that belong to no run. */
export async function addSpans(context: StoreContext, spans: readonly SpanData[]): Promise<void> {
  if (!Array.isArray(spans))
    throw new OffstageError("invalid-argument", `spans.add() needs a list of spans; found ${shownValue(spans)}.`);
  if (spans.length === 0) return context.driver.ready();
  const kept = context.redact === undefined ? spans : redactedSpans(context.redact, spans, context.report);
  const key = `spans.${numberKey(context.stamp())}.${spans[0]?.spanId}`;
  // Sorted, so that concurrent commits that put the same rows cannot deadlock.
  const traceIds = [...new Set(spans.map(({ traceId }) => traceId))].sort();
  const writes = traceIds.flatMap((traceId): Write[] => {
    const own = kept.filter((span) => span.traceId === traceId);
    const value = encodeWithSpans(own, {}, (packed) => packed);
    return [
      { list: context.lists.trace(traceId), key, value },
      { ...loosePlace(context, traceId), value: JSON.stringify(traceId) },
    ];
  });
  const refused = await context.driver.commit({ label: "spans.add", checks: [], writes });
  if (refused !== undefined) throw new OffstageError("store-failed", `${context.driver.name} refused to store spans.`);
}

/** The spans of a trace that belong to no run. */
export async function readLooseSpans(context: StoreContext, traceId: string): Promise<SpanData[]> {
  const rows = await context.driver.read(context.lists.trace(traceId), { from: "spans." });
  const name = `spans of trace "${traceId}" in ${context.driver.name}`;
  return rows.flatMap((row) => unpackSpans(decode({ row, name }, context.report, shaped(isPackedSpans)) ?? []));
}

/** The row that marks a trace as having such spans. */
export function loosePlace({ lists }: StoreContext, traceId: string): RowPlace {
  return { list: lists.looseTraces, key: idKey(traceId) };
}

/** All traces that have such spans. */
export async function readLooseTraces(context: StoreContext): Promise<string[]> {
  const rows = await context.driver.read(context.lists.looseTraces);
  const name = `the list of traces in ${context.driver.name}`;
  return rows.flatMap((row) => decode({ row, name }, context.report, (value) => looseId(value, row.key)) ?? []);
}

// The key contains the id too; the two must match.
function looseId(value: unknown, key: string): string {
  if (typeof value !== "string" || idKey(value) !== key) throw otherForm();
  return value;
}
