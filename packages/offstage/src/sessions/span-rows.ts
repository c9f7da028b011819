// Span rows: spans under their trace. Those of one write share a row; a run's rows carry its id in their key.
import { OffstageError } from "../errors.ts";
import type { SpanData } from "../tracing/span-data.ts";
import { decode } from "./message-rows.ts";
import { idKey, lastKey, numberKey } from "./row-keys.ts";
import type { StoreContext } from "./store-context.ts";
import type { RowRange, Write } from "./store-driver.ts";

/** The rows of spans that ended since the last write, of a run or of nobody's run. */
export function putSpans(context: StoreContext, spans: readonly SpanData[] | undefined, runId = ""): Write[] {
  if (spans === undefined || spans.length === 0) return [];
  const traceIds = new Set(spans.map((span) => span.traceId));
  const key = `${idKey(runId)}.${numberKey(context.stamp())}`;
  return Array.from(traceIds, (traceId) => {
    const packed = spans.filter((span) => span.traceId === traceId).map(packSpan);
    return { list: context.lists.trace(traceId), key, value: JSON.stringify(packed) };
  });
}

/** The spans of a trace, or of one run in it, in the order they ended. */
export async function readSpans(context: StoreContext, traceId: string, runId?: string): Promise<SpanData[]> {
  const prefix = runId === undefined ? undefined : `${idKey(runId)}.`;
  const range: RowRange = prefix === undefined ? {} : { from: prefix, before: prefix + lastKey };
  const rows = await context.driver.read(context.lists.trace(traceId), range);
  const name = `spans of trace "${traceId}" in ${context.driver.name}`;
  return rows.flatMap((row) =>
    (decode<PackedSpan[]>({ row, name }, context.report) ?? []).map((span) => unpackSpan(span, traceId)),
  );
}

// A run has many spans and few of their fields differ: the trace id is in the list's name, and times follow from the start.
type PackedSpan = Omit<SpanData, "traceId" | "duration">;

function packSpan(span: SpanData): PackedSpan {
  const { spanId, parentSpanId, traceName, groupId, name, kind, startTime, endTime, status, metadata, content } = span;
  const hasMetadata = Object.keys(metadata).length > 0;
  return {
    spanId,
    parentSpanId,
    traceName,
    groupId,
    name,
    kind,
    startTime,
    endTime,
    status,
    content,
    ...(hasMetadata ? { metadata } : undefined),
  } as PackedSpan;
}

function unpackSpan(packed: PackedSpan, traceId: string): SpanData {
  const { startTime, endTime } = packed;
  const duration = endTime === undefined ? undefined : endTime - startTime;
  return {
    ...packed,
    traceId,
    metadata: packed.metadata ?? {},
    ...(duration === undefined ? undefined : { duration }),
  };
}

/** Makes spans of nobody's run durable, as a span exporter does. */
export async function addSpans(context: StoreContext, spans: readonly SpanData[]): Promise<void> {
  const writes = putSpans(context, spans);
  if (writes.length === 0) return;
  const refused = await context.driver.commit({ label: "spans.add", checks: [], writes });
  if (refused !== undefined) throw new OffstageError("store-failed", `${context.driver.name} refused to keep spans.`);
}
