// Held messages: what a kind of memory keeps, checked on the way in. No policy.
import { parseMessages } from "../messages/codec.ts";
import type { Message } from "../messages/message.ts";
import { Messages } from "../messages/messages.ts";
import { checkLimit } from "../sessions/limit.ts";
import type { TokenCounter } from "../tokens/token-counter.ts";

/** One message or several as a list; throws `invalid-message` where one is not valid. */
export function checkedList(added: Message | readonly Message[]): Message[] {
  return parseMessages(Array.isArray(added) ? added : [added], { name: "add" });
}

/** A token limit as a number; `invalid-argument` where it is neither undefined nor a whole number from 0. */
export function tokenLimitOf(limit: number | undefined): number {
  return checkLimit(limit, "tokenLimit") ?? Number.POSITIVE_INFINITY;
}

/** A counter that counts each message once. For messages that are held: they do not change. */
export function countingOnce(counter: TokenCounter): TokenCounter {
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

/** A list that grows, and can be emptied. It knows its tokens. */
export class HeldMessages {
  readonly #counter: TokenCounter;
  #messages: Messages = Messages.empty();
  #tokens = 0;

  constructor(counter: TokenCounter) {
    this.#counter = counter;
  }

  get tokens(): number {
    return this.#tokens;
  }

  get length(): number {
    return this.#messages.length;
  }

  /** The list as it is now; a later one extends it. */
  get list(): Messages {
    return this.#messages;
  }

  add(added: Message | readonly Message[]): void {
    const list = checkedList(added);
    this.#messages = this.#messages.append(list);
    this.#tokens += this.#counter.countMessages(list);
  }

  clear(): void {
    this.#messages = Messages.empty();
    this.#tokens = 0;
  }
}
