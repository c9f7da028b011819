// The short stored form of the spans of one write: each as the difference from its run and from the previous span.
import type { JsonObject } from "../base/json.ts";
import { redactSpan } from "../tracing/redact-span.ts";
import type { SpanData } from "../tracing/span-data.ts";
import { encode } from "./message-rows.ts";
import { packUsage, unpackUsage } from "./packed-message.ts";
import {
  fields,
  isCount,
  isNull,
  isNumberOrNull,
  isText,
  listOf,
  mayBe,
  objectOf,
  orZero,
  type Shape,
  some,
  tuple,
} from "./shape.ts";

/** Fields that follow from the run. */
export interface SpanRun {
  readonly runId?: string | undefined;
  readonly traceId?: string | undefined;
  readonly traceName?: string | undefined;
  readonly groupId?: string | undefined;
}

/** 0 stands for no parent, for "ok", and for no metadata. A parent n is the nth span of the same write. */
export type PackedSpan = readonly [
  spanId: string,
  parent: string | number,
  name: string,
  kind: string,
  status: string | 0,
  /** Milliseconds after the start of the previous span. */
  start: number | null,
  duration: number | null,
  metadata?: JsonObject | 0,
  changes?: SpanChanges,
];

/** Fields that differ from the previous span; null for a field that only the previous span has. */
interface SpanChanges {
  traceId?: string;
  traceName?: string | null;
  groupId?: string | null;
  content?: JsonObject;
  /** Metadata that cannot be packed. */
  metadata?: JsonObject;
  parentIsRemote?: true;
}

// Stands for the run id at the start of a text.
const runMark = "\u0001";

export function packSpans(spans: readonly SpanData[], run: SpanRun = {}): PackedSpan[] {
  const placeOf = placesOf(spans);
  let before: SpanRun = run;
  // In microseconds.
  let last = 0;
  return spans.map((span) => {
    const { spanId, parentSpanId, name, kind, startTime, endTime } = span;
    const status = span.status === "ok" ? 0 : span.status;
    const told = Math.round(startTime * 1000);
    // An invalid start time would spoil the following differences: use that of the previous span.
    const at = Number.isSafeInteger(told) ? told : last;
    const start = (at - last) / 1000;
    const duration = endTime === undefined ? null : thousandths(endTime - startTime);
    const parent = parentSpanId === undefined ? 0 : (placeOf(parentSpanId) ?? parentSpanId);
    const metadata = packMetadata(span.metadata, run.runId);
    const isRemote = typeof parent === "string" && span.parentIsRemote === true;
    const changes = changesOf(span, before, { isWhole: metadata === undefined, isRemote });
    last = at;
    if (changes !== undefined) {
      before = span;
      return [spanId, parent, name, kind, status, start, duration, metadata ?? 0, changes];
    }
    if (metadata === 0 || metadata === undefined) return [spanId, parent, name, kind, status, start, duration];
    return [spanId, parent, name, kind, status, start, duration, metadata];
  });
}

// The position of a span, from 1.
function placesOf(spans: readonly SpanData[]): (spanId: string) => number | undefined {
  if (spans.length > mostLookedThrough) {
    const places = new Map(spans.map(({ spanId }, index) => [spanId, index + 1]));
    return (spanId) => places.get(spanId);
  }
  const ids = spans.map(({ spanId }) => spanId);
  return (spanId) => ids.indexOf(spanId) + 1 || undefined;
}

const mostLookedThrough = 32;

/** The text of a row with spans. Metadata that is not JSON is dropped, so that it never fails a run. */
export function encodeWithSpans(
  spans: readonly SpanData[] | undefined,
  run: SpanRun,
  rowOf: (packed: PackedSpan[] | undefined) => unknown,
): string {
  if (spans === undefined) return encode(rowOf(undefined));
  try {
    return encode(rowOf(packSpans(spans, run)));
  } catch {
    return encode(
      rowOf(
        packSpans(
          spans.map((span) => redactSpan(span, asItIs)),
          run,
        ),
      ),
    );
  }
}

const asItIs = <T>(value: T): T => value;

/** Unpacks the spans of one write. */
export function unpackSpans(packed: readonly PackedSpan[], run: SpanRun = {}): SpanData[] {
  let { traceId = "", traceName, groupId } = run;
  let time = 0;
  return packed.map(([spanId, parent, name, kind, status, start, duration, metadata = 0, changes = {}]) => {
    time = thousandths(time + (start ?? 0));
    traceId = changes.traceId ?? traceId;
    traceName = changes.traceName === undefined ? traceName : (changes.traceName ?? undefined);
    groupId = changes.groupId === undefined ? groupId : (changes.groupId ?? undefined);
    const parentSpanId = typeof parent === "number" ? packed[parent - 1]?.[0] : parent;
    const end = duration === null ? undefined : { endTime: thousandths(time + duration), duration };
    return {
      traceId,
      spanId,
      ...(parentSpanId !== undefined && { parentSpanId }),
      ...(changes.parentIsRemote && { parentIsRemote: true }),
      ...(traceName !== undefined && { traceName }),
      ...(groupId !== undefined && { groupId }),
      name,
      kind,
      startTime: time,
      ...end,
      status: status === 0 ? "ok" : (status as SpanData["status"]),
      metadata: changes.metadata ?? unpackMetadata(metadata, run.runId),
      ...(changes.content && { content: changes.content }),
    };
  });
}

const isJsonObject = objectOf<JsonObject>();
const isChanges = fields<Omit<SpanChanges, "parentIsRemote">>({
  traceId: mayBe(isText),
  traceName: mayBe(some(isNull, isText)),
  groupId: mayBe(some(isNull, isText)),
  content: mayBe(isJsonObject),
  metadata: mayBe(isJsonObject),
});

/** True for packed spans. */
export const isPackedSpans: Shape<readonly PackedSpan[]> = listOf(
  tuple<PackedSpan>(
    ...([isText, some(isText, isCount), isText, isText, orZero(isText), isNumberOrNull, isNumberOrNull] as const),
    mayBe(orZero(isJsonObject)),
    mayBe(isChanges),
  ),
);

interface Unusual {
  readonly isWhole: boolean;
  readonly isRemote: boolean;
}

function changesOf(span: SpanData, before: SpanRun, { isWhole, isRemote }: Unusual): SpanChanges | undefined {
  const { traceId, traceName, groupId, content, metadata } = span;
  const isSame = traceId === before.traceId && traceName === before.traceName && groupId === before.groupId;
  if (isSame && content === undefined && !isWhole && !isRemote) return undefined;
  const changes: SpanChanges = {};
  if (traceId !== before.traceId) changes.traceId = traceId;
  if (traceName !== before.traceName) changes.traceName = traceName ?? null;
  if (groupId !== before.groupId) changes.groupId = groupId ?? null;
  if (content !== undefined) changes.content = content;
  if (isWhole) changes.metadata = metadata;
  if (isRemote) changes.parentIsRemote = true;
  return changes;
}

// 0 for no metadata; undefined if a value looks like a packed one.
function packMetadata(metadata: JsonObject, runId: string | undefined): JsonObject | 0 | undefined {
  let packed: Record<string, unknown> | undefined;
  let count = 0;
  for (const key in metadata) {
    const value = metadata[key];
    count++;
    if (key === "__proto__" || (typeof value === "string" && value.startsWith(runMark))) return undefined;
    if (key === "usage" && Array.isArray(value)) return undefined;
    let short: unknown = value;
    if (key === "usage") short = packUsage(value);
    else if (typeof value === "string" && runId !== undefined && value.startsWith(runId))
      short = runMark + value.slice(runId.length);
    if (short === value) continue;
    packed ??= { ...metadata };
    packed[key] = short;
  }
  return count === 0 ? 0 : ((packed as JsonObject | undefined) ?? metadata);
}

function unpackMetadata(packed: JsonObject | 0, runId: string | undefined): JsonObject {
  if (packed === 0) return {};
  const entries = Object.entries(packed).map(([key, value]) => {
    if (key === "usage") return [key, unpackUsage(value)];
    return [key, typeof value === "string" && value.startsWith(runMark) ? `${runId}${value.slice(1)}` : value];
  });
  return Object.fromEntries(entries) as JsonObject;
}

// Clocks have microsecond precision; further digits are rounding noise.
export function thousandths(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
