// Runs, steps, calls and spans as rows, and back.
import { isObject, type JsonObject, otherForm, readJson } from "../../base/json.ts";
import { noUsage, type Usage } from "../../tokens/usage.ts";
import { redactSpan } from "../../tracing/redact-span.ts";
import type { SpanData, SpanStatus } from "../../tracing/span-data.ts";
import type { NewRun } from "../ports/journal.ts";
import {
  type RetryRecord,
  type RunError,
  type RunInfo,
  type RunStatus,
  runStatuses,
  type StepRecord,
  type VoteRecord,
} from "../ports/run-record.ts";
import type { Put } from "../ports/store-driver.ts";
import type { RunRow, SpanRow, StepRow } from "../ports/tables.ts";

/** ISO 8601 with milliseconds: the given time, or now if it is no time of the years 1 to 9999. */
export function isoTime(given?: unknown): string {
  const time = typeof given === "string" || typeof given === "number" ? new Date(given) : undefined;
  const isFit = time !== undefined && time.getTime() >= earliest && time.getTime() <= latest;
  return (isFit ? time : new Date()).toISOString();
}

// The years 1 to 9999, which every back end can store and compare as text.
const earliest = Date.parse("0001-01-01T00:00:00Z");
const latest = Date.parse("9999-12-31T23:59:59.999Z");

/** JSON for a column; null for undefined. */
export function jsonOrNull(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

/** The token columns of a usage. */
export function tokenColumns(usage: Usage | undefined, cost: number | undefined): TokenColumns {
  const count = (n: number | undefined) => (n !== undefined && Number.isSafeInteger(n) ? n : null);
  return {
    input_tokens: count(usage?.inputTokens),
    output_tokens: count(usage?.outputTokens),
    total_tokens: count(usage?.totalTokens),
    cached_tokens: count(usage?.cachedInputTokens),
    cache_write_tokens: count(usage?.cacheWriteTokens),
    reasoning_tokens: count(usage?.reasoningTokens),
    cost_usd: cost !== undefined && Number.isFinite(cost) ? cost : null,
  };
}

type TokenColumns = Pick<
  StepRow,
  | "input_tokens"
  | "output_tokens"
  | "total_tokens"
  | "cached_tokens"
  | "cache_write_tokens"
  | "reasoning_tokens"
  | "cost_usd"
>;

/** The usage of token columns. */
export function usageOf(row: TokenColumns): Usage {
  return {
    inputTokens: row.input_tokens ?? 0,
    outputTokens: row.output_tokens ?? 0,
    totalTokens: row.total_tokens ?? 0,
    ...(row.cached_tokens !== null && { cachedInputTokens: row.cached_tokens }),
    ...(row.cache_write_tokens !== null && { cacheWriteTokens: row.cache_write_tokens }),
    ...(row.reasoning_tokens !== null && { reasoningTokens: row.reasoning_tokens }),
  };
}

export interface RunPlace extends Pick<RunRow, "namespace" | "session_id" | "number"> {
  /** For a subagent's run: the outermost run, which holds the lease. */
  readonly rootRunId?: string | undefined;
}

/** The row of a run that begins. The store sets `seq`. */
export function newRunRow(start: NewRun, { rootRunId, ...place }: RunPlace): RunRow {
  return {
    ...place,
    run_id: start.runId,
    seq: 0,
    parent_run_id: start.parentRunId ?? null,
    parent_tool_call_id: start.parentToolCallId ?? null,
    root_run_id: rootRunId ?? null,
    forked_from: null,
    agent: start.agent,
    model: start.model ?? null,
    provider: start.provider ?? null,
    status: "running",
    reason: null,
    input_count: start.input.length,
    step_count: 0,
    error_count: 0,
    ...tokenColumns(undefined, undefined),
    totals: null,
    started_at: isoTime(start.startedAt),
    ended_at: null,
    duration_ms: null,
    trace_id: start.traceId ?? null,
    stop_requested: null,
    error: null,
    notes: jsonOrNull(start.notes),
    exact: null,
  };
}

/** Tokens and cost of a run together with its subagents. */
export interface Totals {
  readonly usage: Usage;
  readonly cost?: number | undefined;
}

/** The totals of a run, which are its own tokens and cost if it has no subagents; undefined before its first end. */
export function totalsOf(row: RunRow): Totals | undefined {
  const totals = readJson(row.totals, isTotals);
  if (totals !== undefined || row.input_tokens === null) return totals;
  return { usage: usageOf(row), ...(row.cost_usd !== null && { cost: row.cost_usd }) };
}

function isTotals(value: unknown): value is Totals {
  if (!isObject(value) || !isObject(value.usage)) return false;
  return Object.keys(noUsage).every((name) => typeof (value.usage as Record<string, unknown>)[name] === "number");
}

function isStatus(status: string): status is RunStatus {
  return (runStatuses as readonly string[]).includes(status);
}

/** The status of a tool call. */
export const callStatuses: readonly string[] = ["intended", "waiting", "ok", "error", "interrupted", "rejected"];

/** True if a call has no result yet. */
export function isOpenCall(status: string): boolean {
  return status === "intended" || status === "waiting";
}

/** The notes of a run or a step. */
export function notesOf({ notes }: Pick<RunRow, "notes">): JsonObject | undefined {
  return readJson(notes, isObject) as JsonObject | undefined;
}

function isRunError(value: unknown): value is RunError {
  return isObject(value) && typeof value.code === "string" && typeof value.message === "string";
}

/** A run as lists show it, with the status of its row. Throws if the row has an unexpected form. */
export function runInfo(row: RunRow): RunInfo {
  const { status } = row;
  if (!isStatus(status)) throw otherForm();
  const totals = totalsOf(row);
  const error = readJson(row.error, isRunError);
  const notes = notesOf(row);
  return {
    runId: row.run_id,
    sessionId: row.session_id,
    agent: row.agent,
    ...(row.model !== null && { model: row.model }),
    ...(row.provider !== null && { provider: row.provider }),
    status,
    startedAt: row.started_at,
    ...(row.ended_at !== null && { endedAt: row.ended_at }),
    ...(row.duration_ms !== null && { durationMs: row.duration_ms }),
    ...(row.reason !== null && { reason: row.reason }),
    ...(row.stop_requested && { stopReason: row.stop_requested }),
    stepCount: row.step_count,
    errorCount: row.error_count,
    ...(totals && { usage: totals.usage }),
    ...(totals?.cost !== undefined && { cost: totals.cost }),
    ...(error && { error }),
    ...(row.parent_run_id !== null && { parentRunId: row.parent_run_id }),
    ...(row.parent_tool_call_id !== null && { parentToolCallId: row.parent_tool_call_id }),
    ...(row.trace_id !== null && { traceId: row.trace_id }),
    ...(notes && { notes }),
  };
}

type Owner = Pick<RunRow, "namespace" | "session_id" | "run_id" | "agent">;

/** The row of a finished step. */
export function stepRow(owner: Owner, record: StepRecord, inputRef: string | undefined): StepRow {
  return {
    namespace: owner.namespace,
    session_id: owner.session_id,
    run_id: owner.run_id,
    step: record.step,
    agent: owner.agent,
    model: record.model ?? null,
    provider: record.provider ?? null,
    finish_reason: record.finishReason,
    ...tokenColumns(record.usage, record.cost),
    started_at: isoTime(record.startedAt),
    duration_ms: Number.isFinite(record.durationMs) ? record.durationMs : 0,
    input_ref: inputRef ?? null,
    verdicts: jsonOrNull(record.verdicts),
    retries: jsonOrNull(record.retries),
    notes: jsonOrNull(record.notes),
    exact: null,
  };
}

/** A finished step without its messages; undefined for a model call that failed. */
export function readStep(row: StepRow): Omit<StepRecord, "messages"> | undefined {
  if (row.finish_reason === null) return undefined;
  const verdicts = readJson<readonly VoteRecord[]>(row.verdicts, Array.isArray);
  const retries = readJson<readonly RetryRecord[]>(row.retries, Array.isArray);
  const notes = notesOf(row);
  return {
    step: row.step,
    usage: usageOf(row),
    ...(row.cost_usd !== null && { cost: row.cost_usd }),
    ...(row.model !== null && { model: row.model }),
    ...(row.provider !== null && { provider: row.provider }),
    finishReason: row.finish_reason,
    startedAt: row.started_at,
    durationMs: row.duration_ms,
    ...(verdicts && { verdicts }),
    ...(retries && { retries }),
    ...(notes && { notes }),
  };
}

/** The failed attempts of a model call that never succeeded, from its row; undefined if the row is that of a finished step. */
export function failedAttemptsOf({ finish_reason, retries }: StepRow): readonly RetryRecord[] | undefined {
  return finish_reason === null ? readJson<readonly RetryRecord[]>(retries, Array.isArray) : undefined;
}

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
  const content = readJson(row.content, isObject);
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
    metadata: (readJson(row.metadata, isObject) ?? {}) as JsonObject,
    ...(content && { content: content as JsonObject }),
  };
}
