// The record of a run with the calls that wait for approval. Reads only; needs no agent.
import { type Approval, approvalOf } from "./approval.ts";
import type { RunRecord } from "./journal.ts";
import { type WaitingNote, waitingNotes } from "./run-notes.ts";

/** Everything recorded of a run, and the calls that wait for approval. */
export interface FoundRun extends RunRecord {
  /** The calls that wait for approval, including those of subagents, as in `result.approvals`. Empty unless the status is `waiting`. */
  readonly approvals: readonly Approval[];
}

type ReadRun = (runId: string) => Promise<RunRecord | undefined>;

/** Adds the approvals to a record; `read` loads the records of subagents' runs. */
export async function foundRun(record: RunRecord, read: ReadRun): Promise<FoundRun> {
  return { ...record, approvals: await approvalsIn(record, read) };
}

async function approvalsIn(run: RunRecord, read: ReadRun): Promise<Approval[]> {
  // The notes of a run that was resumed are stale.
  if (run.status !== "waiting") return [];
  const found = await Promise.all(waitingNotes(run).map((note) => approvalsFor(note, { run, read })));
  return found.flat();
}

async function approvalsFor(
  { toolCallId, why, child }: WaitingNote,
  { run, read }: { readonly run: RunRecord; readonly read: ReadRun },
): Promise<Approval[]> {
  if (child !== undefined) {
    // Damaged notes could name the run itself or its parent, which would never end.
    const isBeneath = run.children.some(({ runId }) => runId === child.runId);
    const below = isBeneath ? await read(child.runId) : undefined;
    return below === undefined ? [] : approvalsIn(below, read);
  }
  if (why !== "approval") return [];
  const calls = run.openStep?.pending.filter(({ id }) => id === toolCallId) ?? [];
  return calls.map(({ function: { name, arguments: inputText } }) =>
    approvalOf({ toolCallId, toolName: name, inputText }, run),
  );
}
