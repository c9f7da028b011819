// MessageQuery: a thin, read-only face over a list of messages. What it answers is computed beside it, per question.
import { OffstageError } from "../errors.ts";
import type { Message } from "../messages/message.ts";
import { Messages } from "../messages/messages.ts";
import type { TokenCounting } from "../tokens/token-counter.ts";
import { filterMessages, type MessageCriteria, type MessagePredicate } from "./filter.ts";

/** Messages to ask about: a list, or a function that gives the current one. */
export type MessageSource = Iterable<Message> | (() => Iterable<Message>);

export interface MessageQueryOptions {
  /** Counts tokens; an agent hands in its own. Default: the calibrated estimate. */
  readonly tokenCounter?: TokenCounting;
}

// What a query made by `where` has beside its options.
interface Narrowing extends MessageQueryOptions {
  readonly where?: readonly (MessageCriteria | MessagePredicate)[];
}

/**
 * Finds, counts, shows and exports messages. Stateless: it reads its source anew at every question, keeps nothing and
 * changes nothing.
 */
export class MessageQuery implements Iterable<Message> {
  readonly #read: () => readonly Message[];
  readonly #options: MessageQueryOptions;
  readonly #criteria: readonly (MessageCriteria | MessagePredicate)[];

  constructor(source: MessageSource = [], options: MessageQueryOptions = {}) {
    const { where = [] } = options as Narrowing;
    this.#read = readerOf(source);
    this.#options = options;
    this.#criteria = where;
  }

  /** How many messages there are. */
  get length(): number {
    return this.#list().length;
  }

  /** The messages that meet all of the criteria, oldest first; all of them where none is given. */
  filter(criteria: MessageCriteria | MessagePredicate = {}): Message[] {
    return filterMessages(this.#read(), [...this.#criteria, criteria]);
  }

  /** The same filter as a query of its own, to go on asking. */
  where(criteria: MessageCriteria | MessagePredicate): MessageQuery {
    const where = [...this.#criteria, criteria];
    return new MessageQuery(this.#read, { ...this.#options, where } as MessageQueryOptions);
  }

  /** The messages from `start` up to, not including, `end`; negative counts from the end. */
  slice(start?: number, end?: number): Message[] {
    return this.#list().slice(start, end);
  }

  /** The first `n` messages. */
  first(n = 1): Message[] {
    return this.#list().slice(0, Math.max(0, n));
  }

  /** The last `n` messages, oldest first. */
  last(n = 1): Message[] {
    return n > 0 ? this.#list().slice(-n) : [];
  }

  /** All messages, oldest first, in an array of the caller's own. */
  all(): Message[] {
    return this.#list().slice();
  }

  [Symbol.iterator](): Iterator<Message> {
    return this.#list()[Symbol.iterator]();
  }

  #list(): readonly Message[] {
    return this.#criteria.length === 0 ? this.#read() : filterMessages(this.#read(), this.#criteria);
  }
}

function readerOf(source: MessageSource): () => readonly Message[] {
  if (typeof source === "function") return () => arrayOf(source());
  if (Array.isArray(source) || source instanceof Messages) return () => arrayOf(source);
  const once = arrayOf(source);
  return () => once;
}

function arrayOf(messages: Iterable<Message>): readonly Message[] {
  if (Array.isArray(messages)) return messages;
  if (messages instanceof Messages) return messages.toArray();
  const isList = typeof messages === "object" && messages !== null && Symbol.iterator in messages;
  if (isList) return [...messages];
  const sentence = `A MessageQuery needs a list of messages or a function that gives one; found ${typeof messages}.`;
  throw new OffstageError("invalid-argument", `${sentence} For other formats use MessageQuery.from().`);
}
