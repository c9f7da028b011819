// The record of a run with the calls that wait for approval. Reads only; needs no agent.
import type { SessionCells } from "../head/session-cell.ts";
import { type Approval, approvalOf, type RunRecord } from "../ports/run-record.ts";
import { type WaitingNote, waitingNotes } from "./run-notes.ts";
import { findRun, readRun } from "./run-reader.ts";

/** Everything recorded of a run, and the calls that wait for approval. */
export interface FoundRun extends RunRecord {
  /** The calls that wait for approval, including those of subagents, as in `result.approvals`. Empty unless the status is `waiting`. */
  readonly approvals: readonly Approval[];
}

/** Everything recorded of a run; undefined if there is no such run. */
export async function readRecord(cells: SessionCells, runId: string): Promise<RunRecord | undefined> {
  const row = await findRun(cells.context, runId);
  return row && readRun(cells.of(row.session_id), row);
}

/** The same, with the calls that wait for approval. */
export async function getRun(cells: SessionCells, runId: string): Promise<FoundRun | undefined> {
  const record = await readRecord(cells, runId);
  return record && { ...record, approvals: await approvalsIn(cells, record) };
}

async function approvalsIn(cells: SessionCells, run: RunRecord): Promise<Approval[]> {
  // The notes of a run that was resumed are stale.
  if (run.status !== "waiting") return [];
  const found = await Promise.all(waitingNotes(run).map((note) => approvalsFor(cells, run, note)));
  return found.flat();
}

async function approvalsFor(cells: SessionCells, run: RunRecord, note: WaitingNote): Promise<Approval[]> {
  const { toolCallId, why, child } = note;
  if (child !== undefined) {
    // Damaged notes could name the run itself or its parent, which would never end.
    const isBeneath = run.children.some(({ runId }) => runId === child.runId);
    const below = isBeneath ? await readRecord(cells, child.runId) : undefined;
    return below === undefined ? [] : approvalsIn(cells, below);
  }
  if (why !== "approval") return [];
  const calls = run.openStep?.pending.filter(({ id }) => id === toolCallId) ?? [];
  return calls.map(({ function: { name, arguments: inputText } }) =>
    approvalOf({ toolCallId, toolName: name, inputText }, run),
  );
}
