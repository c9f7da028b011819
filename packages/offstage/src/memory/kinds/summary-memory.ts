// SummaryMemory: shows the newest messages and a summary of the older ones.
import { checkOptions } from "../../base/options.ts";
import type { Message } from "../../messages/message.ts";
import type { AnyModel } from "../../models/model.ts";
import { type Fifo, fifo } from "../../sessions/head/fifo.ts";
import type { TokenCounting } from "../../tokens/token-counter.ts";
import type { AgentMemory } from "../agent-memory.ts";
import { type CoveringSummary, RollingSummary } from "../compaction/rolling-summary.ts";
import { type Summarize, summarizerOf } from "../compaction/summarize.ts";
import { contextText } from "../context-text.ts";
import { fitContext } from "../fit.ts";
import { HeldMessages, tokenLimitOf } from "../held-messages.ts";
import { counterRule, listenerRule, summarizeRule } from "../option-rules.ts";
import type { OnError } from "../report-error.ts";

export interface SummaryMemoryOptions {
  /** The summariser: a function or a model. */
  readonly summarize: Summarize | AnyModel;
  readonly tokenCounter?: TokenCounting | undefined;
  /** Called if the summariser fails; the newest messages are shown instead. Default: prints a warning. */
  readonly onError?: OnError | undefined;
}

const rules = { summarize: summarizeRule, tokenCounter: counterRule, onError: listenerRule };

/** Keeps all messages. Shows all of them while they fit, then a summary of the older ones and the newest. */
export class SummaryMemory implements AgentMemory {
  readonly #held: HeldMessages;
  readonly #rolling: RollingSummary;
  readonly #gate: Fifo = fifo();

  constructor(options: SummaryMemoryOptions) {
    checkOptions(options, rules, "SummaryMemory");
    this.#held = new HeldMessages(options.tokenCounter);
    const summarize = summarizerOf(options.summarize);
    this.#rolling = new RollingSummary({ counter: this.#held.counter, summarize, onError: options.onError });
  }

  get count(): number {
    return this.#held.length;
  }

  /** The current summary, with the ids of the messages that it covers. */
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
      return fitContext(await this.#rolling.show(list, limit), { limit, counter: this.#held.counter });
    } finally {
      leave();
    }
  }

  async getContext(query: string, tokenLimit?: number): Promise<string> {
    const limit = tokenLimitOf(tokenLimit);
    return contextText(await this.getMessages(query, tokenLimit), { limit, counter: this.#held.counter });
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
