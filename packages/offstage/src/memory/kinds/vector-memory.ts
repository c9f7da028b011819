// VectorMemory: the newest turn, and of all others those nearest to what is asked.
import type { Message } from "../../messages/message.ts";
import { type TokenCounter, type TokenCounting, tokenCounter } from "../../tokens/token-counter.ts";
import type { AgentMemory } from "../agent-memory.ts";
import { contextText } from "../context-text.ts";
import type { Embedder } from "../embedder.ts";
import { clipFront, fitContext, fitNewest, frontOf } from "../fit.ts";
import { countingOnce, HeldMessages, tokenLimitOf } from "../held-messages.ts";
import { lexicalEmbedder } from "../lexical-embedder.ts";
import { relevantTurns } from "../relevant-turns.ts";
import { type OnError, printError, tell } from "../report-error.ts";
import { TurnRanking } from "../turn-ranking.ts";
import { turnsOf } from "../turns.ts";

export interface VectorMemoryOptions {
  /** Default: `lexicalEmbedder()`, which works offline by shared words. */
  readonly embedder?: Embedder;
  /** A turn must be nearer to the query than this to be chosen for it. Default 0.05. */
  readonly minScore?: number;
  readonly tokenCounter?: TokenCounting;
  /** Told when the embedder failed and the newest was shown instead. Default: prints. */
  readonly onError?: OnError;
}

/** Holds all messages; shows the newest turn, the turns nearest to the query, and with what room is left the newest others. */
export class VectorMemory implements AgentMemory {
  readonly #held: HeldMessages;
  readonly #counter: TokenCounter;
  readonly #ranking: TurnRanking;
  readonly #minScore: number;
  readonly #onError: OnError;

  constructor(options: VectorMemoryOptions = {}) {
    const { embedder = lexicalEmbedder(), minScore = 0.05, onError = printError } = options;
    this.#counter = countingOnce(tokenCounter(options.tokenCounter));
    this.#held = new HeldMessages(this.#counter);
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
      tell(this.#onError, error);
      return fitContext(list, { limit, counter: this.#counter });
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
  }

  async #nearest(list: readonly Message[], query: string, limit: number): Promise<Message[]> {
    const counter = this.#counter;
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
