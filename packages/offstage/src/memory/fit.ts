// Fitting: keeps the newest messages of a list within a token limit, in whole turns if they fit. All memories and strategies use it.
import { type Message, toolCallsOf } from "../messages/message.ts";
import type { TokenCounter } from "../tokens/token-counter.ts";
import { type ClipOptions, clipBlock, clipMessage } from "./clip-message.ts";
import { beginsTurn, blocksOf, questionOf, type Span, turnsOf } from "./turns.ts";

/** Keeps the newest whole turns that fit. If the newest turn does not fit, keeps its user messages and its newest blocks. */
export function fitNewest(whole: readonly Message[], options: ClipOptions): Message[] {
  const list = candidatesOf(whole, options);
  const turns = turnsOf(list);
  const start = newestFrom(list, turns, options);
  const newest = turns.at(-1);
  if (newest === undefined || start < list.length) return list.slice(start);
  return fitTurn(list.slice(newest.start), options);
}

/** The least tokens of a question that is shown whatever the limit. */
const leastQuestion = 64;

/** The same as `fitNewest`, but never empty: if nothing fits, keeps the beginning of the newest user message. */
export function fitAsked(whole: readonly Message[], options: ClipOptions): Message[] {
  const kept = fitNewest(whole, options);
  const question = whole[questionOf(whole).end - 1];
  if (kept.length > 0 || question === undefined) return kept;
  const clipped = clipMessage(question, { ...options, limit: leastQuestion });
  return clipped === undefined ? [] : [clipped];
}

/** Keeps the newest whole turns that fit; empty if the newest turn does not fit. */
export function newestTurns(list: readonly Message[], options: ClipOptions): Message[] {
  return list.slice(newestFrom(list, turnsOf(list), options));
}

/** The same as `fitNewest`, but also keeps system messages and summaries at the front, in at most half of the room. */
export function fitContext(list: readonly Message[], { limit, counter }: ClipOptions): Message[] {
  if (limit === Number.POSITIVE_INFINITY || lastOver(list, { limit, counter }) === -1) return list.slice();
  const front = frontOf(list);
  const kept = clipFront(list.slice(0, front), { limit: Math.floor(limit / 2), counter });
  const rest = fitNewest(list.slice(front), { limit: limit - counter.countMessages(kept), counter });
  return [...kept, ...rest];
}

/** How many messages at the front of a list are instructions and summaries, which belong to no turn. */
export function frontOf(list: readonly Message[]): number {
  const end = list.findIndex(({ role, metadata }) => role !== "system" && metadata?.isSummary !== true);
  return end === -1 ? list.length : end;
}

/** The tokens of the messages that must stay: the newest question and the newest block. */
export function leastTokens(list: readonly Message[], counter: TokenCounter): number {
  const { start, end } = questionOf(list);
  const newest = blocksOf(list.slice(end)).at(-1);
  const block = newest === undefined ? [] : list.slice(end + newest.start, end + newest.end);
  return counter.countMessages(list.slice(start, end)) + counter.countMessages(block);
}

/** Clips instructions and summaries to a limit, each to the room that those before it leave. */
export function clipFront(front: readonly Message[], { limit, counter }: ClipOptions): Message[] {
  let room = limit;
  return front.flatMap((message) => {
    const clipped = clipMessage(message, { limit: room, counter });
    if (clipped === undefined) return [];
    room -= counter.countMessage(clipped);
    return [clipped];
  });
}

// The end of a list that can matter: from the turn in which the room runs out. Looks at the whole list only if a result in
// this part answers a call before it.
function candidatesOf(list: readonly Message[], options: ClipOptions): readonly Message[] {
  let start = Math.max(0, lastOver(list, options));
  while (start > 0 && !beginsTurn(list, start)) start--;
  const part = start === 0 ? list : list.slice(start);
  return part === list || hasAllCalls(part) ? part : list;
}

// The index of the message, counted from the end, that does not fit any more; -1 if all fit.
function lastOver(list: readonly Message[], { limit, counter }: ClipOptions): number {
  let room = limit;
  return list.findLastIndex((message) => {
    room -= counter.countMessage(message);
    return room < 0;
  });
}

function hasAllCalls(list: readonly Message[]): boolean {
  const called = new Set<string>();
  return list.every((message) => {
    for (const call of toolCallsOf(message)) called.add(call.id);
    return message.role !== "tool" || called.has(message.tool_call_id);
  });
}

function newestFrom(list: readonly Message[], spans: readonly Span[], { limit, counter }: ClipOptions): number {
  let room = limit;
  let from = list.length;
  for (const { start, end } of spans.toReversed()) {
    room -= counter.countMessages(list.slice(start, end));
    if (room < 0) break;
    from = start;
  }
  return from;
}

// The user messages get at least half of the room, and everything that the newest block leaves.
function fitTurn(turn: readonly Message[], { limit, counter }: ClipOptions): Message[] {
  const { start, end } = questionOf(turn);
  const rest = turn.slice(end);
  const blocks = blocksOf(rest);
  const newest = blocks.at(-1);
  const newestTokens = newest === undefined ? 0 : counter.countMessages(rest.slice(newest.start));
  const share = Math.max(Math.ceil(limit / 2), limit - newestTokens);
  const question = clipQuestion(turn.slice(start, end), { limit: share, counter });
  if (newest === undefined) return question;
  const room = limit - counter.countMessages(question);
  const from = newestFrom(rest, blocks, { limit: room, counter });
  const kept = from < rest.length ? rest.slice(from) : clipBlock(rest.slice(newest.start), { limit: room, counter });
  return [...question, ...kept];
}

// Of several user messages the last has precedence.
function clipQuestion(question: readonly Message[], { limit, counter }: ClipOptions): Message[] {
  const kept: Message[] = [];
  let room = limit;
  for (const message of question.toReversed()) {
    const clipped = clipMessage(message, { limit: room, counter });
    if (clipped === undefined) break;
    room -= counter.countMessage(clipped);
    kept.unshift(clipped);
  }
  return kept;
}
