// Reads the notes of a recorded run. Notes of an unexpected form are ignored.
import { isObject } from "../../base/json.ts";
import type { UsageByModel } from "../../tokens/usage.ts";
import type { Approval, RunInfo, RunRecord } from "../ports/run-record.ts";
import { fields, hasCounts, isCount, isText, listOf, mayBe, oneOf, type Shape } from "../rows/shape.ts";

/** A call that waits for approval or was approved, and its run. */
export type CallNote = Pick<Approval, "toolCallId" | "runId">;

/** A call that had no result when the run last ended. */
export interface WaitingNote {
  readonly toolCallId: string;
  readonly why: (typeof reasons)[number];
  /** The subagent's run that waits in this call. */
  readonly child?: { readonly runId: string; readonly agent: string; readonly awaits?: readonly CallNote[] };
}

const reasons = ["approval", "question", "interrupted", "again"] as const;

const isAwaited = fields<CallNote>({ toolCallId: isText, runId: isText });
const isChild = fields<NonNullable<WaitingNote["child"]>>({
  runId: isText,
  agent: isText,
  awaits: mayBe(listOf(isAwaited)),
});
const isWaiting = fields<WaitingNote>({ toolCallId: isText, why: oneOf(...reasons), child: mayBe(isChild) });

/** The calls that had no result when the run last ended. */
export function waitingNotes({ notes }: RunInfo): readonly WaitingNote[] {
  return fitting(notes?.waiting, isWaiting);
}

/** The calls that were approved when the run was last resumed. */
export function approvedNotes({ notes }: RunInfo): readonly CallNote[] {
  return fitting(notes?.approved, isAwaited);
}

/** The usage by model when the run last ended. */
export function usedNote({ notes }: RunInfo): UsageByModel {
  const used: unknown = notes?.usageByModel;
  return isObject(used) && Object.values(used).every(hasCounts) ? (used as unknown as UsageByModel) : {};
}

/** The number of steps that have joined the conversation. */
export function saidNote({ notes }: RunInfo): number {
  const said: unknown = notes?.saidSteps;
  return isCount(said) ? said : 0;
}

/** The latest note of a compaction: from the run if it had ended, otherwise from one of its steps. */
export function compactionNote({ notes, steps }: RunRecord): unknown {
  if (notes?.compaction !== undefined) return notes.compaction;
  const last = steps.findLast((step) => step.notes?.compaction !== undefined)?.notes?.compaction;
  return isObject(last) ? last.note : undefined;
}

function fitting<T>(value: unknown, isFit: Shape<T>): readonly T[] {
  return Array.isArray(value) ? value.filter(isFit) : [];
}
