// A rolling summary: shows a growing list as a summary of its older part and its newest messages. Summarises each message once.
import type { Message } from "../../messages/message.ts";
import type { Messages } from "../../messages/messages.ts";
import type { TokenCounter } from "../../tokens/token-counter.ts";
import { newestTurns } from "../fit.ts";
import { type OnError, printError, reportError } from "../report-error.ts";
import { turnsOf } from "../turns.ts";
import { CompactedPart } from "./compacted-part.ts";
import { extendSummary } from "./shorten.ts";
import type { Summarize } from "./summarize.ts";
import { textOfSummary } from "./summary-message.ts";

/** The least tokens of a useful summary. */
const leastSummary = 24;

export interface RollingSummaryOptions {
  readonly counter: TokenCounter;
  readonly summarize: Summarize;
  readonly onError?: OnError | undefined;
}

/** A summary, and the messages that it covers. */
export interface CoveringSummary {
  readonly text: string;
  /** The ids of the covered messages that have one. */
  readonly covers: readonly string[];
  readonly coveredCount: number;
}

export class RollingSummary {
  readonly #options: RollingSummaryOptions;
  #part: CompactedPart;
  #covers: string[] = [];
  #coveredCount = 0;

  constructor(options: RollingSummaryOptions) {
    this.#options = options;
    this.#part = new CompactedPart(options.counter);
  }

  /** The current summary; undefined if there is none yet. */
  get summary(): CoveringSummary | undefined {
    const text = textOfSummary(this.#part.note.summary);
    return text === undefined ? undefined : { text, covers: [...this.#covers], coveredCount: this.#coveredCount };
  }

  /** How many messages of the list the summary covers. */
  get from(): number {
    return this.#part.note.from;
  }

  /**
   * Shows the list as a summary and its newest messages. Summarises if the list is over the limit. If the summariser fails,
   * nothing is dropped, the error is reported, and the next call tries again.
   */
  async show(list: Messages, limit: number): Promise<Message[]> {
    this.#part.follow(list);
    if (this.#part.tokens > limit) await this.#roll(limit);
    return this.#part.flat.toArray();
  }

  // Never summarises the newest turn, which may still grow. Shrinks the older ones to half of their room at once, so that
  // most calls need no summariser.
  async #roll(limit: number): Promise<void> {
    const { counter, summarize, onError = printError } = this.#options;
    const { open, note, pinnedTokens } = this.#part;
    const start = turnsOf(open).at(-1)?.start ?? 0;
    const older = open.slice(0, start);
    const room = Math.max(limit - pinnedTokens - counter.countMessages(open.slice(start)), limit / 4);
    const maxTokens = Math.floor(room * 0.4);
    const kept = newestTurns(older, { limit: room * 0.4, counter });
    const leaving = older.slice(0, older.length - kept.length);
    if (leaving.length === 0 || maxTokens < leastSummary) return;
    try {
      const input = { summary: note.summary, messages: open, budget: limit, counter };
      const covers = this.#coveredCount + leaving.length;
      const { summary } = await extendSummary(input, leaving, { summarize, maxTokens, covers });
      this.#cover(this.#part.take({ summary, messages: open.slice(leaving.length) }));
    } catch (error) {
      reportError(onError, error);
    }
  }

  #cover(messages: readonly Message[]): void {
    this.#coveredCount += messages.length;
    for (const { metadata } of messages) if (typeof metadata?.id === "string") this.#covers.push(metadata.id);
  }

  clear(): void {
    this.#part = new CompactedPart(this.#options.counter);
    this.#covers = [];
    this.#coveredCount = 0;
  }
}
