// The ways to shorten a list that strategies and kinds are made of: window, summary, pruning. Pure but for the summariser.
import { OffstageError } from "../../errors.ts";
import { type Message, type ToolMessage, textOf } from "../../messages/message.ts";
import { clipFront, fitAsked, fitNewest, leastTokens } from "../fit.ts";
import { blocksOf } from "../turns.ts";
import { clipMessage } from "./clip-message.ts";
import type { Compacted, CompactionInput } from "./compaction-strategy.ts";
import { type Summarize, summaryOf } from "./summarize.ts";
import { coveredBy, gapMessage, summaryMessage, textOfSummary, withGap } from "./summary-message.ts";

/** The newest that fits. What goes is counted in a mark beside the summary there was. */
export function windowed(input: CompactionInput): Compacted {
  const { summary, room } = marked(input);
  const kept = fitAsked(input.messages, { limit: room, counter: input.counter });
  return { summary: withGap(summary, input.messages.length - kept.length), messages: kept };
}

/** The summary there was, in at most half of the budget, and the room that it and a mark of what is missing leave. */
export function marked({ summary, messages, budget, counter }: CompactionInput): Marked {
  const mark = counter.countMessage(gapMessage(messages.length + coveredBy(summary)));
  const kept = clipFront(summary, { limit: Math.max(0, Math.floor(budget / 2) - mark), counter });
  return { summary: kept, room: Math.max(0, budget - mark - counter.countMessages(kept)) };
}

export interface Marked {
  readonly summary: readonly Message[];
  readonly room: number;
}

export interface SummarizedOptions {
  readonly summarize: Summarize | undefined;
  /** The share of the budget for messages that stay. */
  readonly keepShare: number;
  /** The share of the budget for the summary. */
  readonly summaryShare: number;
}

/** The newest that fits its share; everything older joins the summary. */
export async function summarized(input: CompactionInput, options: SummarizedOptions): Promise<Compacted> {
  const { summary, messages, budget, counter } = input;
  const { summarize, keepShare, summaryShare } = options;
  const least = Math.min(leastTokens(messages, counter), Math.floor(budget * (1 - summaryShare)));
  const kept = fitNewest(messages, { limit: Math.max(Math.floor(budget * keepShare), least), counter });
  const staying = new Set(kept);
  const older = messages.filter((message) => !staying.has(message));
  if (older.length === 0) return { summary, messages: kept };
  const covers = coveredBy(summary) + messages.length - kept.length;
  const told = await retold(input, older, { summarize, maxTokens: Math.floor(budget * summaryShare), covers });
  return { ...told, messages: kept };
}

export interface RetoldOptions {
  readonly summarize: Summarize | undefined;
  readonly maxTokens: number;
  /** How many messages the new summary stands for. */
  readonly covers: number;
}

/** A new summary in place of the one there was, which tells of these messages too. Rejects where there is no room for it. */
export async function retold(
  input: CompactionInput,
  older: readonly Message[],
  options: RetoldOptions,
): Promise<Omit<Compacted, "messages">> {
  const { summarize = input.summarize, maxTokens, covers } = options;
  if (summarize === undefined) throw noSummarizer();
  const previous = textOfSummary(input.summary);
  const { text, usage } = await summaryOf(summarize, {
    messages: older,
    ...(previous === undefined ? undefined : { previous }),
    maxTokens,
    ...(input.signal === undefined ? undefined : { signal: input.signal }),
  });
  const told = clipMessage(summaryMessage(text, covers), { limit: maxTokens, counter: input.counter });
  if (told === undefined) throw noRoom(maxTokens);
  return { summary: [told], ...(usage && { usage }) };
}

export interface PrunedOptions {
  /** How many of the newest blocks keep their results. */
  readonly keepBlocks: number;
  /** What is left of a result. */
  readonly resultTokens: number;
}

/** The same messages with tool results clipped, the oldest first, until they fit or none is left to clip. */
export function pruned(input: CompactionInput, { keepBlocks, resultTokens }: PrunedOptions): readonly Message[] {
  const { summary, messages, budget, counter } = input;
  const shorter = messages.slice();
  let over = counter.countMessages(messages) + counter.countMessages(summary) - budget;
  const end = keepBlocks === 0 ? messages.length : (blocksOf(messages).at(-keepBlocks)?.start ?? 0);
  for (let i = 0; i < end && over > 0; i++) {
    const message = messages[i] as Message;
    if (message.role !== "tool" || message.metadata?.isClipped === true) continue;
    const short = clipMessage(message, { limit: resultTokens, counter }) ?? emptied(message);
    over -= counter.countMessage(message) - counter.countMessage(short);
    shorter[i] = short;
  }
  return shorter;
}

function emptied(message: ToolMessage): ToolMessage {
  const content = `[clipped, ${textOf(message).length} characters]`;
  return { ...message, content, metadata: { ...message.metadata, isClipped: true } };
}

function noSummarizer(): OffstageError {
  return new OffstageError(
    "invalid-argument",
    'There is nobody to summarise: pass "summarize", a function or a model.',
  );
}

function noRoom(tokens: number): OffstageError {
  return new OffstageError("invalid-argument", `A summary does not fit into ${tokens} tokens. Raise the threshold.`);
}
