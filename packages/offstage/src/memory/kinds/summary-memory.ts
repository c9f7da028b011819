// SummaryMemory: the newest as it was said, everything older as a summary that grows with it.
import type { Message } from "../../messages/message.ts";
import type { AnyModel } from "../../models/model.ts";
import { type Fifo, fifo } from "../../sessions/fifo.ts";
import { type TokenCounter, type TokenCounting, tokenCounter } from "../../tokens/token-counter.ts";
import type { AgentMemory } from "../agent-memory.ts";
import { type CoveringSummary, RollingSummary } from "../compaction/rolling-summary.ts";
import { type Summarize, summarizerOf } from "../compaction/summarize.ts";
import { contextText } from "../context-text.ts";
import { fitContext } from "../fit.ts";
import { countingOnce, HeldMessages, tokenLimitOf } from "../held-messages.ts";
import type { OnError } from "../report-error.ts";

export interface SummaryMemoryOptions {
  /** Who summarises: a function or a model. */
  readonly summarize: Summarize | AnyModel;
  readonly tokenCounter?: TokenCounting;
  /** Told when the summariser failed and the newest was shown instead. Default: prints. */
  readonly onError?: OnError;
}

/** Holds all messages; shows them all while they fit, then a summary of the older ones in front of the newest. */
export class SummaryMemory implements AgentMemory {
  readonly #held: HeldMessages;
  readonly #counter: TokenCounter;
  readonly #rolling: RollingSummary;
  readonly #gate: Fifo = fifo();

  constructor(options: SummaryMemoryOptions) {
    this.#counter = countingOnce(tokenCounter(options.tokenCounter));
    this.#held = new HeldMessages(this.#counter);
    const summarize = summarizerOf(options.summarize);
    this.#rolling = new RollingSummary({ counter: this.#counter, summarize, onError: options.onError });
  }

  get count(): number {
    return this.#held.length;
  }

  /** What is summarised so far, with the ids of the messages it covers. */
  get summary(): CoveringSummary | undefined {
    return this.#rolling.summary;
  }

  async add(message: Message | readonly Message[]): Promise<void> {
    this.#held.add(message);
  }

  async getMessages(_query: string, tokenLimit?: number): Promise<Message[]> {
    const limit = tokenLimitOf(tokenLimit);
    const leave = await this.#gate.enter();
    try {
      const list = this.#held.list;
      if (this.#held.tokens <= limit) return list.toArray();
      return fitContext(await this.#rolling.show(list, limit), { limit, counter: this.#counter });
    } finally {
      leave();
    }
  }

  async getContext(query: string, tokenLimit?: number): Promise<string> {
    const limit = tokenLimitOf(tokenLimit);
    return contextText(await this.getMessages(query, tokenLimit), { limit, counter: this.#counter });
  }

  async getAllMessages(): Promise<Message[]> {
    return this.#held.list.toArray();
  }

  async clear(): Promise<void> {
    this.#held.clear();
    const leave = await this.#gate.enter();
    this.#rolling.clear();
    leave();
  }
}
