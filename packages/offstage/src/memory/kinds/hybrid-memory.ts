// HybridMemory: shows a summary of the older turns, those of them that are nearest to the query, and the newest turns.
import { checkOptions } from "../../base/options.ts";
import type { Message } from "../../messages/message.ts";
import type { AnyModel } from "../../models/model.ts";
import { type Fifo, fifo } from "../../sessions/head/fifo.ts";
import type { TokenCounting } from "../../tokens/token-counter.ts";
import type { AgentMemory } from "../agent-memory.ts";
import { type CoveringSummary, RollingSummary } from "../compaction/rolling-summary.ts";
import { type Summarize, summarizerOf } from "../compaction/summarize.ts";
import { contextText } from "../context-text.ts";
import { type Embedder, lexicalEmbedder } from "../embedder.ts";
import { fitContext, frontOf } from "../fit.ts";
import { HeldMessages, tokenLimitOf } from "../held-messages.ts";
import { counterRule, embedderRule, listenerRule, shareRule, summarizeRule } from "../option-rules.ts";
import { relevantTurns, TurnRanking } from "../relevant-turns.ts";
import { type OnError, printError, reportError } from "../report-error.ts";
import { turnsOf } from "../turns.ts";

export interface HybridMemoryOptions {
  /** The summariser: a function or a model. */
  readonly summarize: Summarize | AnyModel;
  /** Default: `lexicalEmbedder()`, which compares words and works offline. */
  readonly embedder?: Embedder | undefined;
  /** The share of the limit for the summary and the newest turns; relevant turns get the rest. Default 0.7. */
  readonly windowShare?: number | undefined;
  readonly tokenCounter?: TokenCounting | undefined;
  /** Called if the summariser or the embedder fails; the newest turns are still shown. Default: prints a warning. */
  readonly onError?: OnError | undefined;
}

const rules = {
  summarize: summarizeRule,
  embedder: embedderRule,
  windowShare: shareRule,
  tokenCounter: counterRule,
  onError: listenerRule,
};

/** Keeps all messages. Shows all of them while they fit, then a summary, relevant older turns and the newest turns. */
export class HybridMemory implements AgentMemory {
  readonly #held: HeldMessages;
  readonly #rolling: RollingSummary;
  readonly #ranking: TurnRanking;
  readonly #windowShare: number;
  readonly #onError: OnError;
  readonly #gate: Fifo = fifo();

  constructor(options: HybridMemoryOptions) {
    checkOptions(options, rules, "HybridMemory");
    const { embedder = lexicalEmbedder(), windowShare = 0.7, onError = printError } = options;
    const summarize = summarizerOf(options.summarize);
    this.#held = new HeldMessages(options.tokenCounter);
    this.#rolling = new RollingSummary({ counter: this.#held.counter, summarize, onError });
    this.#ranking = new TurnRanking(embedder);
    this.#windowShare = windowShare;
    this.#onError = onError;
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

  async getMessages(query: string, tokenLimit?: number): Promise<Message[]> {
    const limit = tokenLimitOf(tokenLimit);
    const leave = await this.#gate.enter();
    try {
      const { list } = this.#held;
      if (this.#held.tokens <= limit) return list.toArray();
      const shown = await this.#rolling.show(list, Math.floor(limit * this.#windowShare));
      const recent = fitContext(shown, { limit, counter: this.#held.counter });
      return await this.#withRelevant(recent, query, limit);
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

  async #withRelevant(recent: Message[], query: string, limit: number): Promise<Message[]> {
    const counter = this.#held.counter;
    const list = this.#held.list.toArray();
    const newest = turnsOf(list).at(-1)?.start ?? 0;
    const hidden = list.slice(frontOf(list), Math.min(newest, this.#rolling.from));
    const room = limit - counter.countMessages(recent);
    try {
      const relevant = await relevantTurns(hidden, { query, room, counter, ranking: this.#ranking });
      const front = frontOf(recent);
      return [...recent.slice(0, front), ...relevant, ...recent.slice(front)];
    } catch (error) {
      reportError(this.#onError, error);
      return recent;
    }
  }
}
