// Stores spans that belong to no run, and finds spans by run, trace or session.
import { checkOptions, shownValue, someText } from "../../base/options.ts";
import { OffstageError } from "../../errors.ts";
import type { SpanData } from "../../tracing/span-data.ts";
import { checkId, type NamespaceRows } from "../head/namespace-rows.ts";
import type { SessionCells, StoreContext } from "../head/session-cell.ts";
import type { SpanRow } from "../ports/tables.ts";
import { redactSpans } from "../rows/redaction.ts";
import { putSpan, readSpan } from "../rows/run-row.ts";
import { findRun, withSubagents } from "./run-reader.ts";

/** Selects spans by one of the three. */
export type SpanPlace = { readonly runId: string } | { readonly traceId: string } | { readonly sessionId: string };

const placeRules = { runId: someText, traceId: someText, sessionId: someText } as const;

/** The selected spans, ordered by start time. A session has those of its runs, and those of its traces that belong to no run. */
export async function findSpans({ context }: SessionCells, place: SpanPlace): Promise<SpanData[]> {
  checkOptions(place, placeRules, "spans.list()");
  const { runId, traceId, sessionId }: { [Name in keyof typeof placeRules]?: string } = place;
  if ([runId, traceId, sessionId].filter((id) => id !== undefined).length !== 1)
    throw new OffstageError("invalid-argument", "spans.list() needs one of { runId }, { traceId } and { sessionId }.");
  const rows =
    traceId !== undefined
      ? await spansOfTrace(context, traceId)
      : runId !== undefined
        ? await spansOfRun(context, runId)
        : await spansOfSession(context, sessionId as string);
  return spansOf(context.rows, rows);
}

/** The spans of these rows, ordered by start time. A row of an unexpected form is reported and left out. */
export function spansOf(access: NamespaceRows, rows: readonly SpanRow[]): SpanData[] {
  const ordered = rows.toSorted((a, b) => a.start_ms - b.start_ms);
  const spans = ordered.flatMap((row) => access.parse("spans", row, readSpan) ?? []);
  const byId = new Map(spans.map((span) => [`${span.traceId} ${span.spanId}`, span]));
  return [...byId.values()];
}

function spansOfTrace({ rows }: StoreContext, traceId: string): Promise<SpanRow[]> {
  return rows.read("spans", { order: "trace", prefix: [traceId] });
}

async function spansOfRun(context: StoreContext, runId: string): Promise<SpanRow[]> {
  const run = await findRun(context, runId);
  const runs = run === undefined ? [] : await withSubagents(context.rows, run);
  const spans = await Promise.all(
    runs.map(({ session_id, run_id }) => context.rows.read("spans", { prefix: [session_id, run_id] })),
  );
  return spans.flat();
}

async function spansOfSession(context: StoreContext, sessionId: string): Promise<SpanRow[]> {
  const own = await context.rows.read("spans", { prefix: [sessionId] });
  const traceIds = [...new Set(own.map(({ trace_id }) => trace_id))];
  const traces = await Promise.all(traceIds.map((traceId) => spansOfTrace(context, traceId)));
  return [...own, ...traces.flat().filter(({ session_id }) => session_id === "")];
}

/** Stores spans that belong to no run. */
export async function addSpans(context: StoreContext, spans: readonly SpanData[]): Promise<void> {
  if (!Array.isArray(spans))
    throw new OffstageError("invalid-argument", `spans.add() needs a list of spans; found ${shownValue(spans)}.`);
  for (const span of spans as readonly SpanData[]) {
    checkId(span?.traceId, "trace id");
    checkId(span.spanId, "span id");
  }
  if (spans.length === 0) return context.rows.ready();
  const kept = context.redact === undefined ? spans : redactSpans(context.redact, spans, context.report);
  const owner = { namespace: context.rows.namespace, sessionId: "", runId: "" };
  await context.rows.commit({ label: "spans.add", checks: [], writes: kept.map((span) => putSpan(owner, span)) });
}
