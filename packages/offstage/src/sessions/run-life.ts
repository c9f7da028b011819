// How the record of a run changes when it ends and when it is resumed. The same rules for stores and for memory.

import type { Mutable } from "../base/mutable.ts";
import { OffstageError } from "../errors.ts";
import type { RunEnd, RunInfo, RunStatus } from "./journal.ts";

type Known = Omit<RunInfo, "sessionId">;

/** True if a run can never be resumed, so that its record is final. */
export function hasEnded(status: RunStatus): boolean {
  return status === "completed" || status === "stopped";
}

/** The record of a run that ends. */
export function endedRun<Run extends Known>(run: Run, { status, reason, usage, endedAt, error, notes }: RunEnd): Run {
  const ended: Mutable<Known> = { ...run, status, reason, usage, endedAt };
  if (notes !== undefined) ended.notes = { ...run.notes, ...notes };
  if (error !== undefined) ended.error = error;
  // The error of an earlier end no longer applies.
  else if (run.error !== undefined) delete ended.error;
  return ended as Run;
}

/** The record of a run that is resumed, without its earlier end. */
export function reopenedRun<Run extends Known>(run: Run): Run {
  const { reason: _, endedAt: __, error: ___, ...left } = run;
  return { ...left, status: "running" } as unknown as Run;
}

/** A run to resume. */
export interface RunStanding extends Pick<RunInfo, "runId" | "status"> {
  /** For a subagent's run: the outermost run. */
  readonly rootRunId?: string | undefined;
}

interface Wanted {
  readonly runId: string;
  readonly sessionId: string;
}

/** Throws `run-not-found` or `run-not-resumable` unless the run exists, is not a subagent's, and has not ended for good. */
export function checkResumable(run: RunStanding | undefined, { runId, sessionId }: Wanted): asserts run {
  if (run === undefined) throw new OffstageError("run-not-found", `Session "${sessionId}" has no run "${runId}".`);
  // A subagent's answer belongs to a tool call of its parent, not to the conversation.
  if (run.rootRunId !== undefined) throw notResumable(run, `belongs to run "${run.rootRunId}". Resume that run`);
  if (hasEnded(run.status)) throw notResumable(run, `is ${run.status}. Start a new run`);
}

function notResumable({ runId }: RunStanding, why: string): OffstageError {
  return new OffstageError("run-not-resumable", `Run "${runId}" cannot be resumed: it ${why}.`);
}
