// How the row of a run changes when it ends and when it is resumed.
import { OffstageError } from "../../errors.ts";
import { subtractUsage, type Usage } from "../../tokens/usage.ts";
import type { RunEnd } from "../ports/journal.ts";
import type { RunRow } from "../ports/tables.ts";
import { isoTime, jsonOrNull, notesOf, type Totals, tokenColumns } from "../rows/run-row.ts";

/** True if a run can never be resumed, so that its record is final. */
export function hasEnded(status: string): boolean {
  return status === "completed" || status === "stopped";
}

/** What a run used by itself, and what its subagents used. */
export interface Used {
  /** The cost of the run's finished steps; undefined if one of them has no price. */
  readonly stepCost: number | undefined;
  readonly beneath: readonly Totals[];
}

/** The row of a run that ends. Its own tokens are the total without those of its subagents. */
export function endedRun(row: RunRow, end: RunEnd, used: Used): RunRow {
  const { status, reason, usage, cost, endedAt, error, notes } = end;
  const ended_at = isoTime(endedAt);
  return {
    ...row,
    status,
    reason,
    ...tokenColumns(ownUsage(usage, used.beneath), ownCost(cost, used)),
    totals: JSON.stringify({ usage, cost }),
    ended_at,
    duration_ms: Math.max(0, Date.parse(ended_at) - Date.parse(row.started_at)),
    // The error of an earlier end no longer applies.
    error: jsonOrNull(error),
    notes: notes === undefined ? row.notes : JSON.stringify({ ...notesOf(row), ...notes }),
  };
}

// The total without the subagents. If the price of a subagent is unknown, the steps tell it, as far as they are finished.
function ownCost(cost: number | undefined, { stepCost, beneath }: Used): number | undefined {
  if (cost === undefined || beneath.some((child) => child.cost === undefined)) return stepCost;
  const own = beneath.reduce((rest, child) => rest - (child.cost ?? 0), cost);
  // Rounded, because differences of sums have tiny errors.
  return Math.max(0, Math.round(own * 1e12) / 1e12);
}

function ownUsage(usage: Usage, beneath: readonly Totals[]): Usage {
  return beneath.reduce((own, child) => subtractUsage(own, child.usage), usage);
}

/** The row of a run that is resumed, without its earlier end. */
export function reopenedRun(row: RunRow): RunRow {
  return { ...row, status: "running", reason: null, ended_at: null, duration_ms: null, error: null };
}

interface Wanted {
  readonly runId: string;
  readonly sessionId: string;
}

/** Throws `run-not-found` or `run-not-resumable` unless the run exists, is not a subagent's, and has not ended for good. */
export function checkResumable(row: RunRow | undefined, { runId, sessionId }: Wanted): asserts row {
  if (row === undefined) throw new OffstageError("run-not-found", `Session "${sessionId}" has no run "${runId}".`);
  // A subagent's answer belongs to a tool call of its parent, not to the conversation.
  if (row.root_run_id !== null) throw notResumable(row, `belongs to run "${row.root_run_id}". Resume that run`);
  if (hasEnded(row.status)) throw notResumable(row, `is ${row.status}. Start a new run`);
}

function notResumable({ run_id }: RunRow, why: string): OffstageError {
  return new OffstageError("run-not-resumable", `Run "${run_id}" cannot be resumed: it ${why}.`);
}
