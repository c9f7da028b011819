// The ways to shorten a list of which strategies and memories are made: window, summary, pruning.
import { OffstageError } from "../../errors.ts";
import { type Message, type ToolMessage, textOf } from "../../messages/message.ts";
import { clipMessage } from "../clip-message.ts";
import { clipFront, fitAsked, fitNewest, leastTokens } from "../fit.ts";
import { blocksOf } from "../turns.ts";
import type { Compacted, CompactionInput } from "./compaction-strategy.ts";
import { type Summarize, summaryOf } from "./summarize.ts";
import { coveredBy, gapMessage, summaryMessage, textOfSummary, withGap } from "./summary-message.ts";

/** Keeps the newest messages that fit. A gap message after the current summary counts the others. */
export function keepWindow(input: CompactionInput): Compacted {
  const { summary, room } = reserveGap(input);
  const kept = fitAsked(input.messages, { limit: room, counter: input.counter });
  return { summary: withGap(summary, input.messages.length - kept.length), messages: kept };
}

export interface ReservedGap {
  readonly summary: readonly Message[];
  readonly room: number;
}

/** Clips the current summary to half of the budget, and returns the room that it and a gap message leave. */
export function reserveGap({ summary, messages, budget, counter }: CompactionInput): ReservedGap {
  const gap = counter.countMessage(gapMessage(messages.length + coveredBy(summary)));
  const kept = clipFront(summary, { limit: Math.max(0, Math.floor(budget / 2) - gap), counter });
  return { summary: kept, room: Math.max(0, budget - gap - counter.countMessages(kept)) };
}

export interface SummarizeRestOptions {
  readonly summarize: Summarize | undefined;
  /** The share of the budget for messages that stay. */
  readonly keepShare: number;
  /** The share of the budget for the summary. */
  readonly summaryShare: number;
}

/** Keeps the newest messages that fit their share, and adds the older ones to the summary. */
export async function summarizeRest(input: CompactionInput, options: SummarizeRestOptions): Promise<Compacted> {
  const { summary, messages, budget, counter } = input;
  const { summarize, keepShare, summaryShare } = options;
  const least = Math.min(leastTokens(messages, counter), Math.floor(budget * (1 - summaryShare)));
  const kept = fitNewest(messages, { limit: Math.max(Math.floor(budget * keepShare), least), counter });
  const staying = new Set(kept);
  const older = messages.filter((message) => !staying.has(message));
  if (older.length === 0) return { summary, messages: kept };
  const covers = coveredBy(summary) + messages.length - kept.length;
  const maxTokens = Math.floor(budget * summaryShare);
  return { ...(await extendSummary(input, older, { summarize, maxTokens, covers })), messages: kept };
}

export interface ExtendSummaryOptions {
  readonly summarize: Summarize | undefined;
  readonly maxTokens: number;
  /** How many messages the new summary covers. */
  readonly covers: number;
}

/** Replaces the current summary by one that also covers these messages. Rejects if there is no room for it. */
export async function extendSummary(
  input: CompactionInput,
  older: readonly Message[],
  options: ExtendSummaryOptions,
): Promise<Omit<Compacted, "messages">> {
  const { summarize = input.summarize, maxTokens, covers } = options;
  if (summarize === undefined) throw noSummarizer();
  const previous = textOfSummary(input.summary);
  const { text, usage } = await summaryOf(summarize, { messages: older, previous, maxTokens, signal: input.signal });
  const summary = clipMessage(summaryMessage(text, covers), { limit: maxTokens, counter: input.counter });
  if (summary === undefined) throw noRoom(maxTokens);
  return { summary: [summary], usage };
}

export interface PruneResultsOptions {
  /** How many of the newest blocks keep their results. */
  readonly keepBlocks: number;
  /** The most tokens of a clipped result. */
  readonly resultTokens: number;
}

/** Clips tool results, the oldest first, until the messages fit or no result is left to clip. */
export function pruneResults(input: CompactionInput, { keepBlocks, resultTokens }: PruneResultsOptions): Message[] {
  const { summary, messages, budget, counter } = input;
  let over = counter.countMessages(messages) + counter.countMessages(summary) - budget;
  const end = keepBlocks === 0 ? messages.length : (blocksOf(messages).at(-keepBlocks)?.start ?? 0);
  return messages.map((message, index) => {
    if (index >= end || over <= 0 || message.role !== "tool" || message.metadata?.isClipped === true) return message;
    const short = clipMessage(message, { limit: resultTokens, counter }) ?? removeContent(message);
    over -= counter.countMessage(message) - counter.countMessage(short);
    return short;
  });
}

function removeContent(message: ToolMessage): ToolMessage {
  const content = `[clipped, ${textOf(message).length} characters]`;
  return { ...message, content, metadata: { ...message.metadata, isClipped: true } };
}

function noSummarizer(): OffstageError {
  return new OffstageError("invalid-argument", 'There is no summariser: pass "summarize", a function or a model.');
}

function noRoom(tokens: number): OffstageError {
  return new OffstageError("invalid-argument", `A summary does not fit into ${tokens} tokens. Raise the threshold.`);
}
