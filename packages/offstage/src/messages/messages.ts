// Messages: an immutable list whose append is O(1) amortised. Versions share one backing array; each knows its own end.

import { printsAs } from "../base/prints-as.ts";
import { OffstageError } from "../errors.ts";
import { appendShared } from "./append-shared.ts";
import type { Message } from "./message.ts";

/** An immutable, append-only list of messages. Every operation gives a new list and leaves this one as it was. */
export class Messages implements Iterable<Message> {
  readonly #backing: Message[];
  declare readonly length: number;

  private constructor(backing: Message[], length: number) {
    if (length === undefined) throw notMadeWithNew();
    this.#backing = backing;
    this.length = length;
  }

  static readonly #none: Messages = new Messages([], 0);

  static empty(): Messages {
    return Messages.#none;
  }

  static of(...messages: readonly Message[]): Messages {
    return Messages.from(messages);
  }

  /** A list of what the iterable gives; a `Messages` is returned as it is. */
  static from(messages: Iterable<Message>): Messages {
    if (Array.isArray(messages)) return Messages.#own(messages.slice());
    return messages instanceof Messages ? messages : Messages.#own([...messages]);
  }

  static #own(backing: Message[]): Messages {
    return backing.length === 0 ? Messages.#none : new Messages(backing, backing.length);
  }

  get isEmpty(): boolean {
    return this.length === 0;
  }

  /** The list with one message, or several, at its end. */
  append(added: Message | Iterable<Message>): Messages {
    const list = isIterable(added) ? (Array.isArray(added) ? added : [...added]) : [added];
    if (list.length === 0) return this;
    return new Messages(appendShared(this.#backing, this.length, list), this.length + list.length);
  }

  /** The message at an index; negative counts from the end. */
  at(index: number): Message | undefined {
    const whole = Math.trunc(index) || 0;
    const position = whole < 0 ? this.length + whole : whole;
    return position < this.length ? this.#backing[position] : undefined;
  }

  slice(start?: number, end?: number): Messages {
    return Messages.from(this.#backing.slice(...bounds(this.length, start, end)));
  }

  filter(keep: (message: Message, index: number) => boolean): Messages {
    const kept: Message[] = [];
    for (let i = 0; i < this.length; i++) {
      const message = this.#backing[i] as Message;
      if (keep(message, i)) kept.push(message);
    }
    return kept.length === this.length ? this : Messages.from(kept);
  }

  map<T>(change: (message: Message, index: number) => T): T[] {
    return this.toArray().map(change);
  }

  reversed(): Messages {
    return Messages.from(this.toArray().reverse());
  }

  /** A plain array of the same messages, the caller's to keep; without the first `from`, where that is given. */
  toArray(from = 0): Message[] {
    return this.#backing.slice(Math.max(0, from), this.length);
  }

  toJSON(): Message[] {
    return this.toArray();
  }

  /** True where this list is the other one with something, or nothing, appended. O(1). */
  extends(other: Messages): boolean {
    return other.length <= this.length && (other.length === 0 || this.#backing === other.#backing);
  }

  *[Symbol.iterator](): Iterator<Message> {
    for (let i = 0; i < this.length; i++) yield this.#backing[i] as Message;
  }
}

// Types forbid it, and JavaScript does not.
function notMadeWithNew(): OffstageError {
  return new OffstageError("invalid-argument", "A list of messages is made with Messages.from([…]), not with new.");
}

function isIterable(value: Message | Iterable<Message>): value is Iterable<Message> {
  return Symbol.iterator in value;
}

function bounds(length: number, start = 0, end = length): [number, number] {
  const clamp = (index: number) => Math.min(Math.max(index < 0 ? length + index : index, 0), length);
  return [clamp(Math.trunc(start) || 0), clamp(Math.trunc(end) || 0)];
}

printsAs(Messages, (messages) => messages.toArray());
