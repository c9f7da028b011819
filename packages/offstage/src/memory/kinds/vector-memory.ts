// VectorMemory: shows the newest turn and the older turns that are nearest to the query.
import { checkOptions, numberFrom } from "../../base/options.ts";
import type { Message } from "../../messages/message.ts";
import type { TokenCounting } from "../../tokens/token-counter.ts";
import type { AgentMemory } from "../agent-memory.ts";
import { contextText } from "../context-text.ts";
import { type Embedder, lexicalEmbedder } from "../embedder.ts";
import { clipFront, fitContext, fitNewest, frontOf } from "../fit.ts";
import { HeldMessages, tokenLimitOf } from "../held-messages.ts";
import { counterRule, embedderRule, listenerRule } from "../option-rules.ts";
import { relevantTurns, TurnRanking } from "../relevant-turns.ts";
import { type OnError, printError, reportError } from "../report-error.ts";
import { turnsOf } from "../turns.ts";

export interface VectorMemoryOptions {
  /** Default: `lexicalEmbedder()`, which compares words and works offline. */
  readonly embedder?: Embedder | undefined;
  /** The least nearness of a relevant turn, from -1 to 1. Default 0.05. */
  readonly minScore?: number | undefined;
  readonly tokenCounter?: TokenCounting | undefined;
  /** Called if the embedder fails; the newest messages are shown instead. Default: prints a warning. */
  readonly onError?: OnError | undefined;
}

const rules = {
  embedder: embedderRule,
  minScore: numberFrom(-1),
  tokenCounter: counterRule,
  onError: listenerRule,
};

/** Keeps all messages. Shows the newest turn, then the turns nearest to the query, then the newest others that fit. */
export class VectorMemory implements AgentMemory {
  readonly #held: HeldMessages;
  readonly #ranking: TurnRanking;
  readonly #minScore: number;
  readonly #onError: OnError;

  constructor(options: VectorMemoryOptions = {}) {
    checkOptions(options, rules, "VectorMemory");
    const { embedder = lexicalEmbedder(), minScore = 0.05, onError = printError } = options;
    this.#held = new HeldMessages(options.tokenCounter);
    this.#ranking = new TurnRanking(embedder);
    this.#minScore = minScore;
    this.#onError = onError;
  }

  get count(): number {
    return this.#held.length;
  }

  async add(message: Message | readonly Message[]): Promise<void> {
    this.#held.add(message);
  }

  async getMessages(query: string, tokenLimit?: number): Promise<Message[]> {
    const limit = tokenLimitOf(tokenLimit);
    const list = this.#held.list.toArray();
    if (this.#held.tokens <= limit) return list;
    try {
      return await this.#nearest(list, query, limit);
    } catch (error) {
      reportError(this.#onError, error);
      return fitContext(list, { limit, counter: this.#held.counter });
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
  }

  async #nearest(list: readonly Message[], query: string, limit: number): Promise<Message[]> {
    const counter = this.#held.counter;
    const front = clipFront(list.slice(0, frontOf(list)), { limit: Math.floor(limit / 2), counter });
    const rest = list.slice(frontOf(list));
    const start = turnsOf(rest).at(-1)?.start ?? 0;
    let room = limit - counter.countMessages(front);
    const newest = fitNewest(rest.slice(start), { limit: room, counter });
    room -= counter.countMessages(newest);
    const options = { query, room, counter, ranking: this.#ranking, minScore: this.#minScore, fillsWithNewest: true };
    return [...front, ...(await relevantTurns(rest.slice(0, start), options)), ...newest];
  }
}
