// Run notes: what the notes of a recorded run say, as far as they have the form that is written. What they do not say is not assumed.
import { isObject } from "../messages/json.ts";
import type { RunRecord } from "../sessions/journal.ts";
import type { AwaitedCall, WaitingCall } from "../state/pending-step.ts";

/** The calls that waited when the run last ended. */
export function waitingOf({ notes }: RunRecord): readonly WaitingCall[] {
  return listOf(notes?.waiting, isWaitingCall);
}

/** The calls that were approved when the run was taken up before. */
export function approvedOf({ notes }: RunRecord): readonly AwaitedCall[] {
  return listOf(notes?.approved, isAwaitedCall);
}

function listOf<T>(value: unknown, isFit: (each: unknown) => each is T): readonly T[] {
  return Array.isArray(value) ? value.filter(isFit) : [];
}

function isWaitingCall(value: unknown): value is WaitingCall {
  if (!isObject(value) || typeof value.toolCallId !== "string") return false;
  return ["approval", "interrupted", "again"].includes(String(value.why)) && isWaitingChild(value.child);
}

function isWaitingChild(value: unknown): boolean {
  if (value === undefined) return true;
  if (!isObject(value) || typeof value.runId !== "string" || typeof value.agent !== "string") return false;
  const { awaits = [], state } = value;
  return Array.isArray(awaits) && awaits.every(isAwaitedCall) && (state === undefined || isObject(state));
}

function isAwaitedCall(value: unknown): value is AwaitedCall {
  return isObject(value) && typeof value.toolCallId === "string" && typeof value.runId === "string";
}
