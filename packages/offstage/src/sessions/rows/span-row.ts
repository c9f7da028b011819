// Spans as rows, and back.
import { isObject, type JsonObject } from "../../base/json.ts";
import { redactSpan } from "../../tracing/redact-span.ts";
import type { SpanData, SpanStatus } from "../../tracing/span-data.ts";
import type { Put } from "../ports/store-driver.ts";
import type { SpanRow } from "../ports/tables.ts";
import { jsonOf } from "./check-row.ts";
import { isoTime } from "./run-row.ts";

/** The run that a span belongs to; empty texts for none. */
export interface SpanOwner {
  readonly namespace: string;
  readonly sessionId: string;
  readonly runId: string;
}

/** The row of a span. */
export function putSpan({ namespace, sessionId, runId }: SpanOwner, span: SpanData): Put {
  // Telemetry must not fail a write, so a time that is no number is 0.
  const startTime = timeOf(span.startTime) ?? 0;
  const row: SpanRow = {
    namespace,
    session_id: sessionId,
    run_id: runId,
    trace_id: span.traceId,
    span_id: span.spanId,
    parent_span_id: span.parentSpanId ?? null,
    parent_is_remote: span.parentIsRemote === true,
    name: span.name,
    kind: span.kind,
    status: span.status,
    started_at: isoTime(startTime),
    start_ms: startTime,
    duration_ms: timeOf(span.duration ?? (span.endTime ?? Number.NaN) - startTime),
    trace_name: span.traceName ?? null,
    group_id: span.groupId ?? null,
    ...textsOf(span),
    exact: null,
  };
  return { table: "spans", row };
}

// As JSON; values that are not JSON are replaced.
function textsOf({ metadata, content }: SpanData): Pick<SpanRow, "metadata" | "content"> {
  try {
    return {
      metadata: Object.keys(metadata).length === 0 ? null : JSON.stringify(metadata),
      content: content === undefined ? null : JSON.stringify(content),
    };
  } catch {
    const safe = redactSpan({ ...emptySpan, metadata, content }, (texts) => texts);
    return { metadata: JSON.stringify(safe.metadata), content: JSON.stringify(safe.content) ?? null };
  }
}

const emptySpan = { traceId: "", spanId: "", name: "", kind: "", startTime: 0, status: "ok", metadata: {} } as const;

function timeOf(time: number | undefined): number | null {
  return typeof time === "number" && Number.isFinite(time) ? time : null;
}

/** The rows of the spans of a run. Those of a subagent's run, one of `subagents`, belong to that run. */
export function putSpans(owner: SpanOwner, spans: readonly SpanData[], subagents: ReadonlySet<string>): Put[] {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const runOf = (span: SpanData): string => {
    for (let each: SpanData | undefined = span; each !== undefined; each = byId.get(each.parentSpanId ?? "")) {
      const { runId } = each.metadata;
      if (each.kind === "run" && typeof runId === "string" && subagents.has(runId)) return runId;
    }
    return owner.runId;
  };
  const parents = new Set(spans.map(({ parentSpanId }) => parentSpanId));
  // Reads and writes of the session are left out, unless one failed or something happened within it.
  const isKept = ({ kind, status, spanId }: SpanData) => kind !== "session" || status !== "ok" || parents.has(spanId);
  return spans.filter(isKept).map((span) => putSpan({ ...owner, runId: runOf(span) }, span));
}

/** The span of a row. Throws if the row has an unexpected form. */
export function readSpan(row: SpanRow): SpanData {
  const content = jsonOf(row.content, isObject);
  return {
    traceId: row.trace_id,
    spanId: row.span_id,
    ...(row.parent_span_id !== null && { parentSpanId: row.parent_span_id }),
    ...(row.parent_is_remote && { parentIsRemote: true }),
    ...(row.trace_name !== null && { traceName: row.trace_name }),
    ...(row.group_id !== null && { groupId: row.group_id }),
    name: row.name,
    kind: row.kind,
    startTime: row.start_ms,
    ...(row.duration_ms !== null && { endTime: row.start_ms + row.duration_ms, duration: row.duration_ms }),
    status: row.status as SpanStatus,
    metadata: (jsonOf(row.metadata, isObject) ?? {}) as JsonObject,
    ...(content && { content: content as JsonObject }),
  };
}
