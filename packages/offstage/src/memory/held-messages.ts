// Held messages: the messages of a memory, checked when they are added. No policy.

import { type Message, parseMessages } from "../messages/message.ts";
import { Messages } from "../messages/messages.ts";
import { checkLimit } from "../sessions/ports/session.ts";
import { type TokenCounter, type TokenCounting, tokenCounter } from "../tokens/token-counter.ts";

/** Turns one message or several into a list. Throws `invalid-message` if one is not valid. */
export function checkMessages(added: Message | readonly Message[]): Message[] {
  return parseMessages(Array.isArray(added) ? added : [added], { name: "add" });
}

/** Turns a token limit into a number. Throws `invalid-argument` unless it is undefined or a whole number of at least 0. */
export function tokenLimitOf(limit: number | undefined): number {
  return checkLimit(limit, "tokenLimit") ?? Number.POSITIVE_INFINITY;
}

// For messages that do not change.
function countOnce(counter: TokenCounter): TokenCounter {
  const known = new WeakMap<Message, number>();
  const countMessage = (message: Message): number => {
    const tokens = known.get(message) ?? counter.countMessage(message);
    known.set(message, tokens);
    return tokens;
  };
  const countMessages = (messages: Iterable<Message>): number => {
    let total = 0;
    for (const message of messages) total += countMessage(message);
    return total;
  };
  return { estimated: counter.estimated, count: (text) => counter.count(text), countMessage, countMessages };
}

/** A list that grows and can be cleared, and that knows its tokens. */
export class HeldMessages {
  /** Counts each message once. */
  readonly counter: TokenCounter;
  #messages: Messages = Messages.empty();
  #tokens = 0;

  constructor(counting: TokenCounting | undefined) {
    this.counter = countOnce(tokenCounter(counting));
  }

  get tokens(): number {
    return this.#tokens;
  }

  get length(): number {
    return this.#messages.length;
  }

  /** The current list. A later list extends it. */
  get list(): Messages {
    return this.#messages;
  }

  add(added: Message | readonly Message[]): void {
    const list = checkMessages(added);
    this.#messages = this.#messages.append(list);
    this.#tokens += this.counter.countMessages(list);
  }

  clear(): void {
    this.#messages = Messages.empty();
    this.#tokens = 0;
  }
}
