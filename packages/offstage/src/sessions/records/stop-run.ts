// Stops a run from any process: asks its holder to stop, or ends it at once if no process works on it.
import { checkOptions, type OptionRule } from "../../base/options.ts";
import { liveRun } from "../head/hold.ts";
import type { Change, SessionCell, SessionCells } from "../head/session-cell.ts";
import { releaseLease } from "../lease/lease.ts";
import type { RunInfo } from "../ports/run-record.ts";
import type { RunRow, StepRow } from "../ports/tables.ts";
import { isOpenCall, isoTime, tokenColumns, usageOf } from "../rows/run-row.ts";
import { findRun, withSteps, withSubagents } from "./run-reader.ts";

export interface StopRunOptions {
  /** Why; part of the outcome and of the record. */
  readonly reason?: string | undefined;
}

const stopRules: Readonly<Record<keyof StopRunOptions, OptionRule>> = {
  reason: { isFit: (value) => typeof value === "string", words: "text" },
};

/** True if the run was running or waiting. A run that works ends soon; any other has ended when this resolves. */
export async function stopRun(cells: SessionCells, runId: string, options: StopRunOptions = {}): Promise<boolean> {
  checkOptions(options, stopRules, "runs.stop()");
  const { reason = "" } = options;
  const found = await findRun(cells.context, runId);
  if (found === undefined) return false;
  const cell = cells.of(found.session_id);
  // A subagent works for the run above it.
  const rootId = found.root_run_id ?? runId;
  return cell.update("run.stop", async (change) => {
    const row = await findRun(cells.context, rootId);
    if (row === undefined || (row.status !== "running" && row.status !== "waiting")) return false;
    if (row.status === "running" && liveRun(change.head) === row.run_id) askToStop(change, row, reason);
    else await endNow(cell, change, { row, reason });
    return true;
  });
}

// The holder sees the mark in the head with its next write, or when it renews its lease.
function askToStop(change: Change, row: RunRow, reason: string): void {
  if (change.head.stop_requested === row.run_id) return;
  change.writes.push({ table: "runs", row: { ...row, stop_requested: reason } });
  change.head = { ...change.head, stop_requested: row.run_id };
}

async function endNow(
  cell: SessionCell,
  change: Change,
  { row, reason }: { readonly row: RunRow; readonly reason: string },
): Promise<void> {
  const { head, writes } = change;
  const ended_at = isoTime();
  const { rows } = cell.context;
  for (const run of await withSubagents(rows, row)) {
    if (run.status !== "running" && run.status !== "waiting") continue;
    const duration_ms = Math.max(0, Date.parse(ended_at) - Date.parse(run.started_at));
    const ended = { status: "stopped", reason: "stop-requested", stop_requested: reason, ended_at, duration_ms };
    const steps = await rows.read("steps", { prefix: [cell.id, run.run_id] });
    writes.push({ table: "runs", row: { ...countSteps(run, steps), ...ended } });
    for (const call of await rows.read("tool_calls", { prefix: [cell.id, run.run_id] }))
      if (isOpenCall(call.status)) writes.push({ table: "tool_calls", row: { ...call, status: "interrupted" } });
  }
  // The new fence keeps a holder that was only thought to be dead from writing.
  const free = head.lease_run === row.run_id ? { ...releaseLease(head), fence: head.fence + 1 } : head;
  change.head = { ...free, last_status: "stopped" };
}

// The row of a run whose process ended does not tell its steps, and what they used.
function countSteps(row: RunRow, steps: readonly StepRow[]): RunRow {
  const known: Pick<RunInfo, "stepCount" | "usage" | "cost"> = {
    stepCount: row.step_count,
    ...(row.input_tokens !== null && { usage: usageOf(row) }),
    ...(row.cost_usd !== null && { cost: row.cost_usd }),
  };
  const { stepCount, usage, cost } = withSteps(known, steps);
  return usage === undefined ? row : { ...row, step_count: stepCount, ...tokenColumns(usage, cost) };
}
