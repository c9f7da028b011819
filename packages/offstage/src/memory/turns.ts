// Turns and blocks: where a list of messages may be cut. A block is the least that stays whole: a message, or calls with results.
import { type Message, toolCallsOf } from "../messages/message.ts";

/** A part of a list, from `start` up to, not including, `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** True where a turn begins: with what a user said. What one run was given together is one turn; our own notes begin none. */
export function beginsTurn(list: readonly Message[], index: number): boolean {
  const message = list[index];
  if (message?.role !== "user" || message.metadata?.isNote === true) return false;
  const before = list[index - 1];
  const runId = message.metadata?.runId;
  return before?.role !== "user" || runId === undefined || before.metadata?.runId !== runId;
}

/**
 * The turns of a list, one after another. System messages belong to the turn that follows them; what stands before the
 * first turn is a span of its own. Turns that share a call and its result are one.
 */
export function turnsOf(list: readonly Message[]): Span[] {
  const isHeld = heldTogether(list);
  const starts: number[] = [];
  for (let i = 0; i < list.length; i++) {
    if (!beginsTurn(list, i)) continue;
    let start = i;
    while (start > (starts.at(-1) ?? 0) && list[start - 1]?.role === "system") start--;
    if (isHeld[start] === 0) starts.push(start);
  }
  return spansOf(starts, list.length);
}

/** The blocks of a list: no call is apart from its result, however far behind it stands. */
export function blocksOf(list: readonly Message[]): Span[] {
  const isHeld = heldTogether(list);
  const starts: number[] = [];
  for (let i = 0; i < list.length; i++) if (isHeld[i] === 0) starts.push(i);
  return spansOf(starts, list.length);
}

/** Where the newest turn's own words stand: the user messages it began with. Empty, at 0, where there are none. */
export function questionOf(list: readonly Message[]): Span {
  for (let start = list.length - 1; start >= 0; start--) {
    if (!beginsTurn(list, start)) continue;
    let end = start + 1;
    while (list[end]?.role === "user" && list[end]?.metadata?.isNote !== true && !beginsTurn(list, end)) end++;
    return { start, end };
  }
  return { start: 0, end: 0 };
}

function spansOf(starts: readonly number[], length: number): Span[] {
  const whole = length > 0 && starts[0] !== 0 ? [0, ...starts] : starts;
  return whole.map((start, i) => ({ start, end: whole[i + 1] ?? length }));
}

// 1 where a list may not be cut before a message, because a call before it has its result there or behind.
function heldTogether(list: readonly Message[]): Uint8Array {
  const calledAt = new Map<string, number>();
  const lastResult = new Int32Array(list.length);
  for (let i = 0; i < list.length; i++) {
    const message = list[i] as Message;
    for (const call of toolCallsOf(message)) calledAt.set(call.id, i);
    const call = message.role === "tool" ? calledAt.get(message.tool_call_id) : undefined;
    if (call !== undefined) lastResult[call] = i;
  }
  const isHeld = new Uint8Array(list.length);
  let until = -1;
  for (let i = 0; i < list.length; i++) {
    if (i <= until) isHeld[i] = 1;
    until = Math.max(until, lastResult[i] as number);
  }
  return isHeld;
}
