// SlidingWindowMemory: keeps only the latest turns and forgets older ones, so that its size is bounded.
import { checkOptions, wholeFrom } from "../../base/options.ts";
import type { Message } from "../../messages/message.ts";
import { type TokenCounter, type TokenCounting, tokenCounter } from "../../tokens/token-counter.ts";
import type { AgentMemory } from "../agent-memory.ts";
import { contextText } from "../context-text.ts";
import { fitContext } from "../fit.ts";
import { checkMessages, tokenLimitOf } from "../held-messages.ts";
import { counterRule } from "../option-rules.ts";
import { beginsTurn, turnsOf } from "../turns.ts";

export interface SlidingWindowMemoryOptions {
  /** How many turns it keeps. Default 20. */
  readonly turns?: number | undefined;
  readonly tokenCounter?: TokenCounting | undefined;
}

const rules = { turns: wholeFrom(1), tokenCounter: counterRule };

/** Keeps the latest turns, and the system messages at the front. */
export class SlidingWindowMemory implements AgentMemory {
  readonly #counter: TokenCounter;
  readonly #turns: number;
  #front: Message[] = [];
  #window: Message[] = [];
  #begun = 0;

  constructor(options: SlidingWindowMemoryOptions = {}) {
    checkOptions(options, rules, "SlidingWindowMemory");
    this.#counter = tokenCounter(options.tokenCounter);
    this.#turns = options.turns ?? 20;
  }

  get count(): number {
    return this.#front.length + this.#window.length;
  }

  async add(message: Message | readonly Message[]): Promise<void> {
    for (const each of checkMessages(message)) this.#addOne(each);
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
