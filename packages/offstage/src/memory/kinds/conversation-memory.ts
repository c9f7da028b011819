// ConversationMemory: everything that was said, the newest of it shown. The simplest kind.
import type { Message } from "../../messages/message.ts";
import { type TokenCounter, type TokenCounting, tokenCounter } from "../../tokens/token-counter.ts";
import type { AgentMemory } from "../agent-memory.ts";
import { contextText } from "../context-text.ts";
import { fitContext } from "../fit.ts";
import { countingOnce, HeldMessages, tokenLimitOf } from "../held-messages.ts";

export interface ConversationMemoryOptions {
  /** The most tokens it ever shows, whatever it is asked for. Default: no limit. */
  readonly maxTokens?: number;
  readonly tokenCounter?: TokenCounting;
}

/** Holds all messages; shows the newest whole turns, and the system messages in front. */
export class ConversationMemory implements AgentMemory {
  readonly #held: HeldMessages;
  readonly #counter: TokenCounter;
  readonly #maxTokens: number;

  constructor(options: ConversationMemoryOptions = {}) {
    this.#counter = countingOnce(tokenCounter(options.tokenCounter));
    this.#held = new HeldMessages(this.#counter);
    this.#maxTokens = tokenLimitOf(options.maxTokens);
  }

  get count(): number {
    return this.#held.length;
  }

  async add(message: Message | readonly Message[]): Promise<void> {
    this.#held.add(message);
  }

  async getMessages(_query: string, tokenLimit?: number): Promise<Message[]> {
    const limit = Math.min(tokenLimitOf(tokenLimit), this.#maxTokens);
    return fitContext(this.#held.list.toArray(), { limit, counter: this.#counter });
  }

  async getContext(query: string, tokenLimit?: number): Promise<string> {
    const limit = Math.min(tokenLimitOf(tokenLimit), this.#maxTokens);
    return contextText(await this.getMessages(query, tokenLimit), { limit, counter: this.#counter });
  }

  async getAllMessages(): Promise<Message[]> {
    return this.#held.list.toArray();
  }

  async clear(): Promise<void> {
    this.#held.clear();
  }
}
