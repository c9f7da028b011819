// Run notes: what the notes of a recorded run say, as far as they have the form that is written. What they do not say is not assumed.
import { isObject, type JsonObject } from "../messages/json.ts";
import type { UsageByModel } from "../tokens/usage.ts";
import type { RunInfo } from "./journal.ts";
import { fields, isCount, isText, listOf, mayBe, type Shape, some } from "./shape.ts";

/** A call that was approved, or waits for it, and the run it is in. */
export interface CallNote {
  readonly toolCallId: string;
  readonly runId: string;
}

/** A call without a result, as it was when the run last ended. */
export interface WaitingNote {
  readonly toolCallId: string;
  readonly why: "approval" | "interrupted" | "again";
  /** The subagent's run that waits inside the call. */
  readonly child?: {
    readonly runId: string;
    readonly agent: string;
    readonly awaits?: readonly CallNote[];
    readonly state?: JsonObject;
  };
}

const isCallNote = fields({ toolCallId: isText, runId: isText });
const isChildNote = fields({
  runId: isText,
  agent: isText,
  awaits: mayBe(listOf(isCallNote)),
  state: mayBe(isObject),
});
const isReason = some(
  ...["approval", "interrupted", "again"].map(
    (why): Shape =>
      (value) =>
        value === why,
  ),
);
const isWaitingNote = fields({ toolCallId: isText, why: isReason, child: mayBe(isChildNote) });

/** The calls that waited when the run last ended. */
export function waitingNotes({ notes }: RunInfo): readonly WaitingNote[] {
  return fitting(notes?.waiting, isWaitingNote);
}

/** The calls that were approved when the run was taken up before. */
export function approvedNotes({ notes }: RunInfo): readonly CallNote[] {
  return fitting(notes?.approved, isCallNote);
}

/** What a run had used by model when it last ended. */
export function usedNote({ notes }: RunInfo): UsageByModel {
  const used: unknown = notes?.usageByModel;
  return isObject(used) && Object.values(used).every(isObject) ? (used as unknown as UsageByModel) : {};
}

/** How many of its steps have joined the conversation. */
export function saidNote({ notes }: RunInfo): number {
  return isCount(notes?.saidSteps) ? (notes?.saidSteps as number) : 0;
}

function fitting<T>(value: unknown, isFit: Shape): readonly T[] {
  return Array.isArray(value) ? value.filter(isFit) : [];
}
