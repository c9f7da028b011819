// Shortens one part with a strategy, and corrects everything that a strategy may do wrong.
import { isObject } from "../../base/json.ts";
import { messageOf, OffstageError } from "../../errors.ts";
import type { Message } from "../../messages/message.ts";
import type { TokenCounter } from "../../tokens/token-counter.ts";
import { type ClipOptions, clipMessage } from "../clip-message.ts";
import { clipFront, fitAsked } from "../fit.ts";
import { type OnError, reportError } from "../report-error.ts";
import { questionOf } from "../turns.ts";
import type { CompactedPart } from "./compacted-part.ts";
import type { Compacted, CompactionInput, CompactionStrategy } from "./compaction-strategy.ts";
import { keepWindow } from "./shorten.ts";
import type { Summarize, SummaryUsage } from "./summarize.ts";

export interface ShortenPartOptions {
  /** The most tokens of the part. */
  readonly budget: number;
  readonly counter: TokenCounter;
  readonly strategy: CompactionStrategy;
  readonly onError: OnError;
  readonly summarize: Summarize | undefined;
  readonly signal: AbortSignal | undefined;
}

export interface ShortenedPart {
  /** The messages that are no longer shown, or in another form. */
  readonly covered: readonly Message[];
  readonly usage: SummaryUsage | undefined;
  /** Why the sliding window was used instead of the strategy. */
  readonly error: string | undefined;
}

/** Makes a part fit its budget. Rejects only if it is aborted. */
export async function shortenPart(part: CompactedPart, options: ShortenPartOptions): Promise<ShortenedPart> {
  const { counter, summarize, signal } = options;
  const { open } = part;
  const budget = Math.max(0, options.budget - part.pinnedTokens);
  const asked = askedBefore(open, { limit: Math.floor(budget / 4), counter });
  // Frozen copies: a strategy that changes its input must not change the fallback.
  const input: CompactionInput = Object.freeze({
    summary: Object.freeze([...part.note.summary]),
    messages: Object.freeze(open.filter((message) => !asked.has(message))),
    budget: budget - counter.countMessages([...asked.values()]),
    counter,
    summarize,
    signal,
  });
  const { compacted, error } = await compact(input, options);
  const { summary, messages } = withinBudget(compacted, input);
  const covered = part.take({ summary, messages: withAsked(messages, asked, open) });
  return { covered, usage: compacted.usage, error: error === undefined ? undefined : messageOf(error) };
}

// The earlier questions of a run that was steered, clipped. No strategy may lose them.
function askedBefore(list: readonly Message[], { limit, counter }: ClipOptions): ReadonlyMap<Message, Message> {
  const { start } = questionOf(list);
  const { isJoined, runId } = list[start]?.metadata ?? {};
  const asked = new Map<Message, Message>();
  if (isJoined !== true || runId === undefined) return asked;
  let room = limit;
  for (const message of list.slice(0, start)) {
    if (message.role !== "user" || message.metadata?.isNote === true || message.metadata?.runId !== runId) continue;
    const clipped = clipMessage(message, { limit: room, counter });
    if (clipped === undefined) continue;
    room -= counter.countMessage(clipped);
    asked.set(message, clipped);
  }
  return asked;
}

// Puts them back at their places. A message that a strategy changed counts as newer.
function withAsked(
  messages: readonly Message[],
  asked: ReadonlyMap<Message, Message>,
  list: readonly Message[],
): readonly Message[] {
  if (asked.size === 0) return messages;
  const places = new Map(list.map((message, place) => [message, place]));
  const placeOf = (message: Message): number => places.get(message) ?? list.length;
  const all = [...messages];
  for (const [message, clipped] of asked) {
    const before = all.findIndex((each) => placeOf(each) > placeOf(message));
    all.splice(before === -1 ? all.length : before, 0, clipped);
    places.set(clipped, placeOf(message));
  }
  return all;
}

interface Attempt {
  readonly compacted: Compacted;
  readonly error?: unknown;
}

async function compact(input: CompactionInput, { strategy, onError, signal }: ShortenPartOptions): Promise<Attempt> {
  try {
    const compacted = await strategy.compact(input);
    check(compacted, input, strategy.name);
    return { compacted };
  } catch (error) {
    signal?.throwIfAborted();
    reportError(onError, error);
    return { compacted: keepWindow(input), error };
  }
}

function check(compacted: Compacted, { messages }: CompactionInput, name: string): void {
  const isList = (value: unknown): boolean => Array.isArray(value) && value.every(isObject);
  if (!isList(compacted?.messages) || !isList(compacted?.summary))
    throw broken(name, "did not return { summary, messages }");
  const question = messages[questionOf(messages).end - 1];
  const isClippedQuestion = ({ role, metadata }: Message): boolean => role === "user" && metadata?.isClipped === true;
  if (question !== undefined && !compacted.messages.some((each) => each === question || isClippedQuestion(each)))
    throw broken(name, "lost the newest user message");
}

function withinBudget(compacted: Compacted, { budget, counter }: CompactionInput): Compacted {
  const { summary, messages } = compacted;
  if (counter.countMessages(summary) + counter.countMessages(messages) <= budget) return compacted;
  const front = clipFront(summary, { limit: Math.floor(budget / 2), counter });
  const kept = fitAsked(messages, { limit: budget - counter.countMessages(front), counter });
  return { summary: front, messages: kept };
}

function broken(name: string, fault: string): OffstageError {
  return new OffstageError(
    "invalid-argument",
    `The compaction strategy "${name}" ${fault}; the sliding window was used instead.`,
  );
}
