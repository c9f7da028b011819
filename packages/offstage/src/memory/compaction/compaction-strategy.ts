// The compaction strategy: the port of what makes a list of messages shorter. When, and what becomes of it, is compaction.ts.
import { OffstageError } from "../../errors.ts";
import type { Message } from "../../messages/message.ts";
import type { TokenCounter } from "../../tokens/token-counter.ts";
import type { Summarize, SummaryUsage } from "./summarize.ts";

/** What is to be made shorter: the conversation, or the tool trace of a run. */
export interface CompactionInput {
  /** What stands for messages that earlier compactions left out. */
  readonly summary: readonly Message[];
  /** What is shown beside it, oldest first. */
  readonly messages: readonly Message[];
  /** The most tokens that the new summary and messages may take together. */
  readonly budget: number;
  readonly counter: TokenCounter;
  /** Asks the agent's own model, where there is one. */
  readonly summarize?: Summarize;
  readonly signal?: AbortSignal;
}

/** What is shown from now on. */
export interface Compacted {
  readonly summary: readonly Message[];
  /** Those that stay as they are are the same objects; one that is shown in another form is a new object. */
  readonly messages: readonly Message[];
  /** Tokens that making it took. */
  readonly usage?: SummaryUsage;
}

/** A strategy as a function. */
export type CompactionFunction = (input: CompactionInput) => Compacted | Promise<Compacted>;

/**
 * Makes a list of messages shorter.
 *
 * **Contract:** never changes a message; keeps order; keeps the newest user message and calls with their results. What it
 * gives beyond its budget is cut to the newest. Where it throws, or loses the newest user message, the window is used
 * instead and the error is reported.
 */
export interface CompactionStrategy {
  readonly name: string;
  readonly compact: CompactionFunction;
}

/** A strategy as given: an object, or a function that is named after itself. */
export function strategyOf(given: CompactionStrategy | CompactionFunction): CompactionStrategy {
  if (typeof given === "function") return { name: given.name || "function", compact: given };
  if (typeof given?.compact === "function") return given;
  throw new OffstageError(
    "invalid-argument",
    'A "strategy" must be a function or { name, compact }; see slidingWindow().',
  );
}
