// One part made shorter by a strategy, with everything a strategy may do wrong put right.
import { messageOf, OffstageError } from "../../errors.ts";
import type { Message } from "../../messages/message.ts";
import type { TokenCounter } from "../../tokens/token-counter.ts";
import { clipFront, fitAsked } from "../fit.ts";
import { type OnError, tell } from "../report-error.ts";
import { questionOf } from "../turns.ts";
import type { CompactedPart } from "./compacted-part.ts";
import type { Compacted, CompactionInput, CompactionStrategy } from "./compaction-strategy.ts";
import { windowed } from "./shorten.ts";
import type { Summarize, SummaryUsage } from "./summarize.ts";

export interface ShortenPartOptions {
  /** The most tokens the part may take. */
  readonly budget: number;
  readonly counter: TokenCounter;
  readonly strategy: CompactionStrategy;
  readonly onError: OnError;
  readonly summarize?: Summarize | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ShortenedPart {
  /** What is shown no more, or in another form. */
  readonly covered: readonly Message[];
  readonly usage?: SummaryUsage;
  /** Why the window was used instead of the strategy. */
  readonly error?: string;
}

/** Makes a part fit its budget. Rejects only when it is aborted. */
export async function shortenPart(part: CompactedPart, options: ShortenPartOptions): Promise<ShortenedPart> {
  const { budget, counter, summarize, signal } = options;
  const input: CompactionInput = {
    summary: part.note.summary,
    messages: part.open,
    budget: Math.max(0, budget - part.pinnedTokens),
    counter,
    ...(summarize === undefined ? undefined : { summarize }),
    ...(signal === undefined ? undefined : { signal }),
  };
  const { compacted, error } = await compacting(input, options);
  const covered = part.take(withinBudget(compacted, input));
  const { usage } = compacted;
  return { covered, ...(usage && { usage }), ...(error === undefined ? undefined : { error: messageOf(error) }) };
}

interface Attempt {
  readonly compacted: Compacted;
  readonly error?: unknown;
}

async function compacting(input: CompactionInput, options: ShortenPartOptions): Promise<Attempt> {
  try {
    const compacted = await options.strategy.compact(input);
    check(compacted, input, options.strategy.name);
    return { compacted };
  } catch (error) {
    options.signal?.throwIfAborted();
    tell(options.onError, error);
    return { compacted: windowed(input), error };
  }
}

function check(compacted: Compacted, { messages }: CompactionInput, name: string): void {
  if (!Array.isArray(compacted?.messages) || !Array.isArray(compacted.summary))
    throw broken(name, "did not give { summary, messages }");
  const question = messages[questionOf(messages).end - 1];
  const isKept = ({ role, metadata }: Message): boolean => role === "user" && metadata?.isClipped === true;
  if (question !== undefined && !compacted.messages.some((message) => message === question || isKept(message)))
    throw broken(name, "lost the newest user message");
}

function withinBudget(compacted: Compacted, { budget, counter }: CompactionInput): Compacted {
  const { summary, messages } = compacted;
  if (counter.countMessages(summary) + counter.countMessages(messages) <= budget) return compacted;
  const front = clipFront(summary, { limit: Math.floor(budget / 2), counter });
  const kept = fitAsked(messages, { limit: budget - counter.countMessages(front), counter });
  return { summary: front, messages: kept };
}

function broken(name: string, what: string): OffstageError {
  return new OffstageError(
    "invalid-argument",
    `The compaction strategy "${name}" ${what}; the window was used instead.`,
  );
}
