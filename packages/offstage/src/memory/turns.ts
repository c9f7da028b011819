// Turns and blocks: the places at which a list of messages may be cut. A block is a message, or tool calls with their results.
import { type Message, toolCallsOf } from "../messages/message.ts";

/** A part of a list, from `start` up to but not including `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** True if a turn begins at this index, with a user message. Several inputs of one run are one turn; our own notes begin none. */
export function beginsTurn(list: readonly Message[], index: number): boolean {
  const message = list[index];
  if (message?.role !== "user" || message.metadata?.isNote === true) return false;
  const before = list[index - 1];
  const runId = message.metadata?.runId;
  return before?.role !== "user" || runId === undefined || before.metadata?.runId !== runId;
}

/**
 * The turns of a list. System messages belong to the turn that follows them; messages before the first turn are a span of
 * their own. Two turns that share a tool call and its result are one.
 */
export function turnsOf(list: readonly Message[]): Span[] {
  const mayCut = cutPoints(list);
  const starts: number[] = [];
  for (const index of list.keys()) {
    if (!beginsTurn(list, index)) continue;
    let start = index;
    while (start > (starts.at(-1) ?? 0) && list[start - 1]?.role === "system") start--;
    if (mayCut[start]) starts.push(start);
  }
  return spansOf(starts, list.length);
}

/** The blocks of a list. No block separates a call from its result, however far apart they are. */
export function blocksOf(list: readonly Message[]): Span[] {
  const starts = cutPoints(list).flatMap((mayCut, index) => (mayCut ? [index] : []));
  return spansOf(starts, list.length);
}

/** The user messages with which the newest turn begins. Empty, at 0, if there is no turn. */
export function questionOf(list: readonly Message[]): Span {
  const start = list.findLastIndex((_, index) => beginsTurn(list, index));
  if (start === -1) return { start: 0, end: 0 };
  let end = start + 1;
  while (list[end]?.role === "user" && list[end]?.metadata?.isNote !== true && !beginsTurn(list, end)) end++;
  return { start, end };
}

function spansOf(starts: readonly number[], length: number): Span[] {
  const whole = length > 0 && starts[0] !== 0 ? [0, ...starts] : starts;
  return whole.map((start, i) => ({ start, end: whole[i + 1] ?? length }));
}

// For each index, whether the list may be cut before it: not between a call and its last result.
function cutPoints(list: readonly Message[]): boolean[] {
  const calledAt = new Map<string, number>();
  const lastResultOf = new Map<number, number>();
  for (const [index, message] of list.entries()) {
    for (const call of toolCallsOf(message)) calledAt.set(call.id, index);
    const caller = message.role === "tool" ? calledAt.get(message.tool_call_id) : undefined;
    if (caller !== undefined) lastResultOf.set(caller, index);
  }
  let pairedUntil = -1;
  return list.map((_, index) => {
    const mayCut = index > pairedUntil;
    pairedUntil = Math.max(pairedUntil, lastResultOf.get(index) ?? -1);
    return mayCut;
  });
}
