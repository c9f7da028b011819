// Span rows: spans as short as they can be kept. Those of a run stand with its steps, others under their trace.
import { OffstageError } from "../errors.ts";
import type { SpanData } from "../tracing/span-data.ts";
import { decode } from "./message-rows.ts";
import { numberKey } from "./row-keys.ts";
import type { StoreContext } from "./store-context.ts";
import type { Write } from "./store-driver.ts";

/** What all spans have, in this order; then what few have, by name. */
export type PackedSpan = readonly [
  traceId: string,
  spanId: string,
  parentSpanId: string | null,
  name: string,
  kind: string,
  status: string,
  startTime: number,
  duration: number | null,
  rest?: Partial<SpanData>,
];

/** Spans of one write; a trace id that repeats is written once. */
export function packSpans(spans: readonly SpanData[]): PackedSpan[] {
  let before = "";
  return spans.map((span) => {
    const traceId = span.traceId === before ? "" : span.traceId;
    before = span.traceId;
    return packSpan(span, traceId);
  });
}

function packSpan(span: SpanData, traceId: string): PackedSpan {
  const {
    spanId,
    parentSpanId = null,
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
  const packed = [traceId, spanId, parentSpanId, name, kind, status, thousandths(startTime), duration] as const;
  const hasMetadata = Object.keys(metadata).length > 0;
  if (!hasMetadata && traceName === undefined && groupId === undefined && content === undefined) return packed;
  return [...packed, { traceName, groupId, content, ...(hasMetadata && { metadata }) } as Partial<SpanData>];
}

// Clocks tell microseconds; digits beyond are noise of the arithmetic.
function thousandths(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

export function unpackSpans(packed: readonly PackedSpan[]): SpanData[] {
  let before = "";
  return packed.map(([traceId, spanId, parentSpanId, name, kind, status, startTime, duration, rest]) => {
    before = traceId === "" ? before : traceId;
    const span = { traceId: before, spanId, name, kind, status: status as SpanData["status"], startTime, metadata: {} };
    const end = duration === null ? undefined : { endTime: thousandths(startTime + duration), duration };
    return { ...span, ...(parentSpanId !== null && { parentSpanId }), ...end, ...rest };
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
