// Stops a run from any process: asks its holder to stop, or ends it at once if no process works on it.
import { checkOptions, type OptionRule } from "../../base/options.ts";
import { liveRun } from "../head/hold.ts";
import type { Change, SessionCell, SessionCells } from "../head/session-cell.ts";
import { releaseLease } from "../lease/lease.ts";
import type { Write } from "../ports/store-driver.ts";
import type { RunRow, SessionRow } from "../ports/tables.ts";
import { isOpenCall, isoTime } from "../rows/run-row.ts";
import { findRun, withSubagents } from "./run-reader.ts";

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
  return cell.update("run.stop", async (head) => {
    const row = await findRun(cells.context, rootId);
    if (row === undefined || (row.status !== "running" && row.status !== "waiting")) return { result: false };
    return row.status === "running" && liveRun(head) === row.run_id
      ? askToStop(row, head, reason)
      : endNow(cell, { row, head, reason });
  });
}

// The holder sees the mark in the head with its next write, or when it renews its lease.
function askToStop(row: RunRow, head: SessionRow, reason: string): Change<boolean> {
  if (head.stop_requested === row.run_id) return { result: true };
  const marked: RunRow = { ...row, stop_requested: reason };
  return { result: true, head: { ...head, stop_requested: row.run_id }, writes: [{ table: "runs", row: marked }] };
}

interface Ending {
  readonly row: RunRow;
  readonly head: SessionRow;
  readonly reason: string;
}

async function endNow(cell: SessionCell, { row, head, reason }: Ending): Promise<Change<boolean>> {
  const ended_at = isoTime();
  const writes: Write[] = [];
  const { rows } = cell.context;
  for (const run of await withSubagents(rows, row)) {
    if (run.status !== "running" && run.status !== "waiting") continue;
    const duration_ms = Math.max(0, Date.parse(ended_at) - Date.parse(run.started_at));
    const ended = { status: "stopped", reason: "stop-requested", stop_requested: reason, ended_at, duration_ms };
    writes.push({ table: "runs", row: { ...run, ...ended } });
    for (const call of await rows.read("tool_calls", { prefix: [cell.id, run.run_id] }))
      if (isOpenCall(call.status)) writes.push({ table: "tool_calls", row: { ...call, status: "interrupted" } });
  }
  // The new fence keeps a holder that was only thought to be dead from writing.
  const free = head.lease_run === row.run_id ? { ...releaseLease(head), fence: head.fence + 1 } : head;
  return { result: true, head: { ...free, last_status: "stopped" }, writes };
}
