// Span rows: spans as short as they can be kept. Those of a run stand with its steps, others under their trace.
import { OffstageError } from "../errors.ts";
import type { JsonObject } from "../messages/json.ts";
import type { SpanData } from "../tracing/span-data.ts";
import { decode } from "./message-rows.ts";
import { numberKey } from "./row-keys.ts";
import type { StoreContext } from "./store-context.ts";
import type { Write } from "./store-driver.ts";

/** What all spans have, in this order; then what few have, by name. The start counts from the span before it. */
export type PackedSpan = readonly [
  traceId: string,
  spanId: string,
  parentSpanId: string,
  name: string,
  kind: string,
  status: string,
  start: number,
  duration: number | null,
  metadata?: JsonObject,
  rest?: Partial<SpanData>,
];

/** Spans of one write, each as what differs from the one before it. */
export function packSpans(spans: readonly SpanData[]): PackedSpan[] {
  let traceId = "";
  let time = 0;
  return spans.map((span) => {
    const packed = packSpan(span, span.traceId === traceId ? "" : span.traceId, time);
    traceId = span.traceId;
    time = thousandths(time + packed[6]);
    return packed;
  });
}

function packSpan(span: SpanData, traceId: string, before: number): PackedSpan {
  const {
    spanId,
    parentSpanId = "",
    name,
    kind,
    status,
    startTime,
    endTime,
    traceName,
    groupId,
    metadata,
    content,
  } = span;
  const duration = endTime === undefined ? null : thousandths(endTime - startTime);
  const packed = [
    traceId,
    spanId,
    parentSpanId,
    name,
    kind,
    status,
    thousandths(startTime - before),
    duration,
  ] as const;
  if (traceName !== undefined || groupId !== undefined || content !== undefined) {
    return [...packed, metadata, { traceName, groupId, content } as Partial<SpanData>];
  }
  return Object.keys(metadata).length > 0 ? [...packed, metadata] : packed;
}

// Clocks tell microseconds; digits beyond are noise of the arithmetic.
function thousandths(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/** The spans of one `packSpans`. */
export function unpackSpans(packed: readonly PackedSpan[]): SpanData[] {
  let trace = "";
  let time = 0;
  return packed.map(([traceId, spanId, parentSpanId, name, kind, status, start, duration, metadata = {}, rest]) => {
    trace = traceId === "" ? trace : traceId;
    time = thousandths(time + start);
    const end = duration === null ? undefined : { endTime: thousandths(time + duration), duration };
    const parent = parentSpanId === "" ? undefined : { parentSpanId };
    const span = {
      traceId: trace,
      spanId,
      name,
      kind,
      status: status as SpanData["status"],
      startTime: time,
      metadata,
    };
    return { ...span, ...parent, ...end, ...rest };
  });
}

/** Makes spans of nobody's run durable, as a span exporter does. */
export async function addSpans(context: StoreContext, spans: readonly SpanData[]): Promise<void> {
  if (spans.length === 0) return;
  const key = `spans.${numberKey(context.stamp())}.${spans[0]?.spanId}`;
  const writes = Array.from(new Set(spans.map(({ traceId }) => traceId)), (traceId): Write => {
    const packed = packSpans(spans.filter((span) => span.traceId === traceId));
    return { list: context.lists.trace(traceId), key, value: JSON.stringify(packed) };
  });
  const refused = await context.driver.commit({ label: "spans.add", checks: [], writes });
  if (refused !== undefined) throw new OffstageError("store-failed", `${context.driver.name} refused to keep spans.`);
}

/** Spans of a trace that belong to no run. */
export async function readLooseSpans(context: StoreContext, traceId: string): Promise<SpanData[]> {
  const rows = await context.driver.read(context.lists.trace(traceId), { from: "spans." });
  const name = `spans of trace "${traceId}" in ${context.driver.name}`;
  return rows.flatMap((row) => unpackSpans(decode<PackedSpan[]>({ row, name }, context.report) ?? []));
}
