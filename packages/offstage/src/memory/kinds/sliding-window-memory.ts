// SlidingWindowMemory: the latest turns and nothing else. What leaves the window is forgotten; its size is bounded.
import { OffstageError } from "../../errors.ts";
import type { Message } from "../../messages/message.ts";
import { type TokenCounter, type TokenCounting, tokenCounter } from "../../tokens/token-counter.ts";
import type { AgentMemory } from "../agent-memory.ts";
import { contextText } from "../context-text.ts";
import { fitContext } from "../fit.ts";
import { checkedList, tokenLimitOf } from "../held-messages.ts";
import { beginsTurn, turnsOf } from "../turns.ts";

export interface SlidingWindowMemoryOptions {
  /** How many turns it holds. Default 20. */
  readonly turns?: number;
  readonly tokenCounter?: TokenCounting;
}

/** Holds the latest turns, and the system messages that came before all others. */
export class SlidingWindowMemory implements AgentMemory {
  readonly #counter: TokenCounter;
  readonly #turns: number;
  #front: Message[] = [];
  #window: Message[] = [];
  #begun = 0;

  constructor(options: SlidingWindowMemoryOptions = {}) {
    const { turns = 20 } = options;
    if (!Number.isSafeInteger(turns) || turns < 1)
      throw new OffstageError("invalid-argument", `"turns" must be a whole number from 1; found ${String(turns)}.`);
    this.#counter = tokenCounter(options.tokenCounter);
    this.#turns = turns;
  }

  get count(): number {
    return this.#front.length + this.#window.length;
  }

  async add(message: Message | readonly Message[]): Promise<void> {
    for (const each of checkedList(message)) this.#addOne(each);
    if (this.#begun > this.#turns) this.#slide();
  }

  async getMessages(_query: string, tokenLimit?: number): Promise<Message[]> {
    return fitContext(await this.getAllMessages(), { limit: tokenLimitOf(tokenLimit), counter: this.#counter });
  }

  async getContext(query: string, tokenLimit?: number): Promise<string> {
    const limit = tokenLimitOf(tokenLimit);
    return contextText(await this.getMessages(query, tokenLimit), { limit, counter: this.#counter });
  }

  async getAllMessages(): Promise<Message[]> {
    return [...this.#front, ...this.#window];
  }

  async clear(): Promise<void> {
    this.#front = [];
    this.#window = [];
    this.#begun = 0;
  }

  #addOne(message: Message): void {
    if (message.role === "system" && this.#window.length === 0) {
      this.#front.push(message);
      return;
    }
    this.#window.push(message);
    if (beginsTurn(this.#window, this.#window.length - 1)) this.#begun++;
  }

  #slide(): void {
    const turns = turnsOf(this.#window);
    const first = turns[Math.max(0, turns.length - this.#turns)];
    this.#window = this.#window.slice(first?.start ?? 0);
    this.#begun = Math.min(turns.length, this.#turns);
  }
}
