// ConversationMemory: keeps everything and shows the newest. The simplest kind.
import { checkOptions, wholeFrom } from "../../base/options.ts";
import type { Message } from "../../messages/message.ts";
import type { TokenCounting } from "../../tokens/token-counter.ts";
import type { AgentMemory } from "../agent-memory.ts";
import { contextText } from "../context-text.ts";
import { fitContext } from "../fit.ts";
import { HeldMessages, tokenLimitOf } from "../held-messages.ts";
import { counterRule } from "../option-rules.ts";

export interface ConversationMemoryOptions {
  /** The most tokens of any context, even if a call asks for more. Default: no limit. */
  readonly maxTokens?: number | undefined;
  readonly tokenCounter?: TokenCounting | undefined;
}

const rules = { maxTokens: wholeFrom(0), tokenCounter: counterRule };

/** Keeps all messages. Shows the newest whole turns, and the system messages at the front. */
export class ConversationMemory implements AgentMemory {
  readonly #held: HeldMessages;
  readonly #maxTokens: number;

  constructor(options: ConversationMemoryOptions = {}) {
    checkOptions(options, rules, "ConversationMemory");
    this.#held = new HeldMessages(options.tokenCounter);
    this.#maxTokens = options.maxTokens ?? Number.POSITIVE_INFINITY;
  }

  get count(): number {
    return this.#held.length;
  }

  async add(message: Message | readonly Message[]): Promise<void> {
    this.#held.add(message);
  }

  async getMessages(_query: string, tokenLimit?: number): Promise<Message[]> {
    return fitContext(this.#held.list.toArray(), { limit: this.#limitOf(tokenLimit), counter: this.#held.counter });
  }

  async getContext(query: string, tokenLimit?: number): Promise<string> {
    const limit = this.#limitOf(tokenLimit);
    return contextText(await this.getMessages(query, tokenLimit), { limit, counter: this.#held.counter });
  }

  async getAllMessages(): Promise<Message[]> {
    return this.#held.list.toArray();
  }

  async clear(): Promise<void> {
    this.#held.clear();
  }

  #limitOf(tokenLimit: number | undefined): number {
    return Math.min(tokenLimitOf(tokenLimit), this.#maxTokens);
  }
}
