// Run notes: what the notes of a recorded run say, as far as they have the form that is written. What they do not say is not assumed.
import { isObject } from "../base/json.ts";
import type { UsageByModel } from "../tokens/usage.ts";
import type { Approval } from "./approval.ts";
import type { RunInfo, RunRecord } from "./journal.ts";
import { fields, isCount, isText, listOf, mayBe, oneOf, type Shape } from "./shape.ts";

/** A call that waits for approval or got it, and the run it is in. */
export type CallNote = Pick<Approval, "toolCallId" | "runId">;

/** A call without a result, as it was when the run last ended. */
export interface WaitingNote {
  readonly toolCallId: string;
  readonly why: (typeof reasons)[number];
  /** The subagent's run that waits inside the call. */
  readonly child?: { readonly runId: string; readonly agent: string; readonly awaits?: readonly CallNote[] };
}

const reasons = ["approval", "interrupted", "again"] as const;

const isAwaited = fields<CallNote>({ toolCallId: isText, runId: isText });
const isChild = fields<NonNullable<WaitingNote["child"]>>({
  runId: isText,
  agent: isText,
  awaits: mayBe(listOf(isAwaited)),
});
const isWaiting = fields<WaitingNote>({ toolCallId: isText, why: oneOf(...reasons), child: mayBe(isChild) });

/** The calls that waited when the run last ended. */
export function waitingNotes({ notes }: RunInfo): readonly WaitingNote[] {
  return fitting(notes?.waiting, isWaiting).map(({ toolCallId, why, child }) => {
    if (child === undefined) return { toolCallId, why };
    const { runId, agent, awaits } = child;
    return { toolCallId, why, child: { runId, agent, ...(awaits && { awaits }) } };
  });
}

/** The calls that were approved when the run was taken up before. */
export function approvedNotes({ notes }: RunInfo): readonly CallNote[] {
  return fitting(notes?.approved, isAwaited);
}

/** What a run had used by model when it last ended. */
export function usedNote({ notes }: RunInfo): UsageByModel {
  const used: unknown = notes?.usageByModel;
  return isObject(used) && Object.values(used).every(isObject) ? (used as unknown as UsageByModel) : {};
}

/** How many of its steps have joined the conversation. */
export function saidNote({ notes }: RunInfo): number {
  const said: unknown = notes?.saidSteps;
  return isCount(said) ? said : 0;
}

/** What a compaction noted last: with the run where it had ended, else with one of its steps. */
export function compactionNote({ notes, steps }: RunRecord): unknown {
  if (notes?.compaction !== undefined) return notes.compaction;
  const last = steps.findLast((step) => step.notes?.compaction !== undefined)?.notes?.compaction;
  return isObject(last) ? last.note : undefined;
}

function fitting<T>(value: unknown, isFit: Shape<T>): readonly T[] {
  return Array.isArray(value) ? value.filter(isFit) : [];
}
