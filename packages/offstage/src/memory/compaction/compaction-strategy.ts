// The compaction strategy: the port of a rule that shortens a list of messages. compaction.ts decides when it is used.
import { type OptionRule, objectWith, someFunction } from "../../base/options.ts";
import type { Message } from "../../messages/message.ts";
import type { TokenCounter } from "../../tokens/token-counter.ts";
import type { Summarize, SummaryUsage } from "./summarize.ts";

/** A list to shorten: the conversation, or the tool trace of a run. The lists are frozen copies. */
export interface CompactionInput {
  /** Summaries of messages that earlier compactions left out. */
  readonly summary: readonly Message[];
  /** The messages that are shown after the summary, oldest first. */
  readonly messages: readonly Message[];
  /** The most tokens of the new summary and messages together. */
  readonly budget: number;
  readonly counter: TokenCounter;
  /** Asks the agent's own model for a summary, if there is one. */
  readonly summarize?: Summarize | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The shortened list. */
export interface Compacted {
  readonly summary: readonly Message[];
  /** Unchanged messages are the same objects; a message in another form is a new object. */
  readonly messages: readonly Message[];
  /** Tokens that the strategy used. */
  readonly usage?: SummaryUsage | undefined;
}

/** A strategy as a function. */
export type CompactionFunction = (input: CompactionInput) => Compacted | Promise<Compacted>;

/**
 * Shortens a list of messages.
 *
 * **Contract:** never changes a message, keeps the order, and keeps the newest user message and calls with their results.
 * A result over the budget is cut to its newest messages. If a strategy throws or loses the newest user message, the
 * sliding window is used instead and the error is reported.
 */
export interface CompactionStrategy {
  readonly name: string;
  readonly compact: CompactionFunction;
}

const strategyObject = objectWith("{ name, compact }", "compact");

/** The rule for the option "strategy". */
export const strategyRule: OptionRule = {
  isFit: (value) => someFunction.isFit(value) || strategyObject.isFit(value),
  words: "a strategy such as slidingWindow(), { name, compact } or a function",
};

/** Makes a strategy of a function, named after it. A strategy is returned as it is. */
export function strategyOf(given: CompactionStrategy | CompactionFunction): CompactionStrategy {
  return typeof given === "function" ? { name: given.name || "function", compact: given } : given;
}
