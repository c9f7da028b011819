// Run life: how what is known of a run changes as it ends and is taken up again. One rule for stores and for memory.

import type { Mutable } from "../base/mutable.ts";
import { OffstageError } from "../errors.ts";
import type { RunEnd, RunInfo, RunStatus } from "./journal.ts";

type Known = Omit<RunInfo, "sessionId">;

/** True where a run ended for good: nothing takes it up again, and what is recorded of it stays. */
export function hasEnded(status: RunStatus): boolean {
  return status === "completed" || status === "stopped";
}

/** What is known of a run that ends. */
export function endedRun<Run extends Known>(run: Run, { status, reason, usage, endedAt, error, notes }: RunEnd): Run {
  const ended: Mutable<Known> = { ...run, status, reason, usage, endedAt };
  if (notes !== undefined) ended.notes = { ...run.notes, ...notes };
  if (error !== undefined) ended.error = error;
  // What an earlier end of the run said is over.
  else if (run.error !== undefined) delete ended.error;
  return ended as Run;
}

/** What is known of a run that is taken up again: what its earlier end said is over. */
export function reopenedRun<Run extends Known>(run: Run): Run {
  const { reason: _, endedAt: __, error: ___, ...left } = run;
  return { ...left, status: "running" } as unknown as Run;
}

/** How a run stands that somebody wants to take up again. */
export interface RunStanding extends Pick<RunInfo, "runId" | "status"> {
  /** The run at the top, where this one is beneath it. */
  readonly rootRunId?: string | undefined;
}

interface Wanted {
  readonly runId: string;
  readonly sessionId: string;
}

/** Throws `run-not-found` or `run-not-resumable` unless the run is there, is no subagent's, and has not ended for good. */
export function checkResumable(run: RunStanding | undefined, { runId, sessionId }: Wanted): asserts run {
  if (run === undefined)
    throw new OffstageError("run-not-found", `There is no run "${runId}" in session "${sessionId}".`);
  // Its answer belongs to the call of its parent, not to the conversation.
  if (run.rootRunId !== undefined) throw notResumable(run, `belongs to run "${run.rootRunId}"; resume that one`);
  if (hasEnded(run.status)) throw notResumable(run, `is ${run.status}. Start a new one`);
}

function notResumable({ runId }: RunStanding, why: string): OffstageError {
  return new OffstageError("run-not-resumable", `Run "${runId}" cannot be resumed: it ${why}.`);
}
