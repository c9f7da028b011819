// A run that was asked for by its id: its record, and what it waits for. Reads only; no agent is needed.
import { type Approval, approvalOf } from "./approval.ts";
import type { RunRecord } from "./journal.ts";
import { type WaitingNote, waitingNotes } from "./run-notes.ts";

/** Everything recorded of a run, and the calls it waits for. */
export interface FoundRun extends RunRecord {
  /** The calls that wait for approval, where the status is `waiting`; those of subagents included. As in `result.approvals`. */
  readonly approvals: readonly Approval[];
}

type ReadRun = (runId: string) => Promise<RunRecord | undefined>;

/** The run with what it waits for; `read` gives the records of its subagents' runs. */
export async function foundRun(record: RunRecord, read: ReadRun): Promise<FoundRun> {
  return { ...record, approvals: await approvalsIn(record, read) };
}

async function approvalsIn(run: RunRecord, read: ReadRun): Promise<Approval[]> {
  // The notes of a run that went on are of the time before.
  if (run.status !== "waiting") return [];
  const found = await Promise.all(waitingNotes(run).map((note) => approvalsFor(note, { run, read })));
  return found.flat();
}

async function approvalsFor(
  { toolCallId, why, child }: WaitingNote,
  { run, read }: { readonly run: RunRecord; readonly read: ReadRun },
): Promise<Approval[]> {
  if (child !== undefined) {
    // Notes can be damaged: a run that named itself, or one above it, would be read forever.
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
