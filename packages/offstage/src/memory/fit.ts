// Fitting: the newest of a list within a token limit, in whole turns where they fit. The one rule all kinds and strategies share.
import { type Message, toolCallsOf } from "../messages/message.ts";
import type { TokenCounter } from "../tokens/token-counter.ts";
import { type ClipOptions, clipBlock, clipMessage } from "./compaction/clip-message.ts";
import { beginsTurn, blocksOf, questionOf, type Span, turnsOf } from "./turns.ts";

/** The newest whole turns that fit. Of a newest turn that does not fit: what the user said, and its newest blocks. */
export function fitNewest(whole: readonly Message[], { limit, counter }: ClipOptions): Message[] {
  const list = latest(whole, { limit, counter });
  const turns = turnsOf(list);
  const start = newestFrom(list, turns, { limit, counter });
  const newest = turns.at(-1);
  if (newest === undefined || start < list.length) return list.slice(start);
  return fitTurn(list.slice(newest.start), { limit, counter });
}

// A question is shown in as many tokens, whatever the limit.
const leastQuestion = 64;

/** The same, and where nothing fits the beginning of what was asked all the same: a model cannot answer nothing. */
export function fitAsked(whole: readonly Message[], options: ClipOptions): Message[] {
  const kept = fitNewest(whole, options);
  const question = whole[questionOf(whole).end - 1];
  if (kept.length > 0 || question === undefined) return kept;
  const clipped = clipMessage(question, { ...options, limit: leastQuestion });
  return clipped === undefined ? [] : [clipped];
}

/** The newest whole turns that fit; empty where not even the newest does. */
export function newestTurns(list: readonly Message[], options: ClipOptions): Message[] {
  return list.slice(newestFrom(list, turnsOf(list), options));
}

/** The same as `fitNewest`, with what stands in front of a conversation kept: system messages and summaries, in at most half the room. */
export function fitContext(list: readonly Message[], { limit, counter }: ClipOptions): Message[] {
  if (limit === Number.POSITIVE_INFINITY || fits(list, { limit, counter })) return list.slice();
  const front = frontOf(list);
  const kept = clipFront(list.slice(0, front), { limit: Math.floor(limit / 2), counter });
  const rest = fitNewest(list.slice(front), { limit: limit - counter.countMessages(kept), counter });
  return [...kept, ...rest];
}

/** How many messages at the beginning of a list stand outside its turns: instructions and summaries. */
export function frontOf(list: readonly Message[]): number {
  const end = list.findIndex(({ role, metadata }) => role !== "system" && metadata?.isSummary !== true);
  return end === -1 ? list.length : end;
}

/** The tokens of what must not be lost: the newest turn's own words and the newest block. */
export function leastTokens(list: readonly Message[], counter: TokenCounter): number {
  const { start, end } = questionOf(list);
  const newest = blocksOf(list.slice(end)).at(-1);
  const block = newest === undefined ? [] : list.slice(end + newest.start, end + newest.end);
  return counter.countMessages(list.slice(start, end)) + counter.countMessages(block);
}

// No more of a list than is needed to choose from it: back to the turn in which the room ends. A list whose results stand
// further from their calls than that is looked at whole.
function latest(list: readonly Message[], { limit, counter }: ClipOptions): readonly Message[] {
  let start = list.length;
  for (let room = limit; start > 0 && room >= 0; start--) room -= counter.countMessage(list[start - 1] as Message);
  while (start > 0 && !beginsTurn(list, start)) start--;
  const part = start === 0 ? list : list.slice(start);
  return part === list || isClosed(part) ? part : list;
}

function isClosed(list: readonly Message[]): boolean {
  const called = new Set<string>();
  return list.every((message) => {
    for (const call of toolCallsOf(message)) called.add(call.id);
    return message.role !== "tool" || called.has(message.tool_call_id);
  });
}

function fits(list: readonly Message[], { limit, counter }: ClipOptions): boolean {
  let room = limit;
  for (let i = list.length - 1; i >= 0 && room >= 0; i--) room -= counter.countMessage(list[i] as Message);
  return room >= 0;
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

// At least half of the room is for what the user said, and all that the newest block leaves.
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

// Of several messages the last comes first.
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

/** Instructions and summaries within a limit, each clipped to what those before it leave. */
export function clipFront(front: readonly Message[], { limit, counter }: ClipOptions): Message[] {
  let room = limit;
  return front.flatMap((message) => {
    const clipped = clipMessage(message, { limit: room, counter });
    if (clipped === undefined) return [];
    room -= counter.countMessage(clipped);
    return [clipped];
  });
}
