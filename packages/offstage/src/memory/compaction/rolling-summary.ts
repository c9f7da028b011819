// A rolling summary: a growing list as a summary of what is older and the newest as it is. Summarises only what is new to it.
import type { Message } from "../../messages/message.ts";
import type { Messages } from "../../messages/messages.ts";
import type { TokenCounter } from "../../tokens/token-counter.ts";
import { newestTurns } from "../fit.ts";
import { type OnError, printError, tell } from "../report-error.ts";
import { turnsOf } from "../turns.ts";
import { CompactedPart } from "./compacted-part.ts";
import { retold } from "./shorten.ts";
import type { Summarize } from "./summarize.ts";
import { textOfSummary } from "./summary-message.ts";

/** In fewer tokens than these a summary says nothing. */
const leastSummary = 24;

export interface RollingSummaryOptions {
  readonly counter: TokenCounter;
  readonly summarize: Summarize;
  readonly onError?: OnError | undefined;
}

/** What a summary says, and of which messages. */
export interface CoveringSummary {
  readonly text: string;
  /** The ids of the messages it stands for, of those that have one. */
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

  /** The summary so far; undefined while there is none. */
  get summary(): CoveringSummary | undefined {
    const text = textOfSummary(this.#part.note.summary);
    return text === undefined ? undefined : { text, covers: [...this.#covers], coveredCount: this.#coveredCount };
  }

  /** How many messages of the list are not shown as they are. */
  get from(): number {
    return this.#part.note.from;
  }

  /**
   * The list as summary and newest. Summarises where that is beyond the limit; where the summariser fails, nothing is
   * taken away, the error is told, and the next time tries again.
   */
  async show(list: Messages, limit: number): Promise<Message[]> {
    this.#part.follow(list);
    if (this.#part.tokens > limit) await this.#roll(limit);
    return this.#part.flat.toArray();
  }

  // The newest turn still grows: it is never summarised. What is older gives way to half its room at once, so that
  // most turns need no summariser.
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
      const { summary } = await retold(input, leaving, { summarize, maxTokens, covers });
      this.#cover(this.#part.take({ summary, messages: open.slice(leaving.length) }));
    } catch (error) {
      tell(onError, error);
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
