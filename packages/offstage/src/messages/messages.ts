// Messages: an immutable list whose append is O(1) amortised. Versions share one backing array; each knows its own end.
import { checkValue, shownValue, someFunction } from "../base/options.ts";
import { printsAs } from "../base/prints-as.ts";
import { OffstageError } from "../errors.ts";
import { checkList } from "./codec.ts";
import type { Message } from "./message.ts";

/** An immutable, append-only list of messages. Every operation returns a new list and leaves this one as it was. */
export class Messages implements Iterable<Message> {
  readonly #backing: Message[];
  readonly length: number;

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

  /** The messages of an iterable as a list. A `Messages` is returned as it is. */
  static from(messages: Iterable<Message>): Messages {
    if (messages instanceof Messages) return messages;
    if (!Array.isArray(messages)) checkList(messages, "messages");
    const backing = [...messages];
    return backing.length === 0 ? Messages.#none : new Messages(backing, backing.length);
  }

  get isEmpty(): boolean {
    return this.length === 0;
  }

  /** The list with one message, or several, at its end. */
  append(added: Message | Iterable<Message>): Messages {
    const list = arrayOf(added);
    if (list.length === 0) return this;
    return new Messages(appendShared(this.#backing, this.length, list), this.length + list.length);
  }

  /** The message at an index. Negative indexes count from the end. */
  at(index: number): Message | undefined {
    const whole = Math.trunc(index) || 0;
    const position = whole < 0 ? this.length + whole : whole;
    return position < this.length ? this.#backing[position] : undefined;
  }

  slice(start?: number, end?: number): Messages {
    return Messages.from(this.#backing.slice(...bounds(this.length, start, end)));
  }

  filter(keep: (message: Message, index: number) => boolean): Messages {
    checkValue("keep", keep ?? null, someFunction);
    const kept = this.toArray().filter(keep);
    return kept.length === this.length ? this : Messages.from(kept);
  }

  map<T>(change: (message: Message, index: number) => T): T[] {
    checkValue("change", change ?? null, someFunction);
    return this.toArray().map(change);
  }

  reversed(): Messages {
    return Messages.from(this.toArray().reverse());
  }

  /** A plain array of the messages from index `from` on. The caller may change it. */
  toArray(from = 0): Message[] {
    return this.#backing.slice(Math.max(0, from), this.length);
  }

  toJSON(): Message[] {
    return this.toArray();
  }

  /** True if this list is `other`, or was made from it by appending. O(1). */
  extends(other: Messages): boolean {
    return other.length <= this.length && (other.length === 0 || this.#backing === other.#backing);
  }

  [Symbol.iterator](): Iterator<Message> {
    return this.toArray().values();
  }
}

/** The messages of several lists, one after another. */
export function joinLists(lists: readonly Messages[]): Message[] {
  return lists.flatMap((list) => list.toArray());
}

/**
 * The messages that `after`, one list after another, has behind those of `before`. Undefined if anything else changed: only one list may
 * have grown, and no messages may follow it.
 */
export function addedMessages(before: readonly Messages[], after: readonly Messages[]): Message[] | undefined {
  if (before.length !== after.length) return undefined;
  const grown = after.findIndex((list, index) => list !== before[index]);
  if (grown === -1) return [];
  const old = before[grown] as Messages;
  const now = after[grown] as Messages;
  const isFollowed = after.some((list, index) => index > grown && (list.length > 0 || before[index]?.length !== 0));
  return !isFollowed && now.extends(old) ? now.toArray(old.length) : undefined;
}

// Types forbid it; JavaScript does not.
function notMadeWithNew(): OffstageError {
  return new OffstageError("invalid-argument", "Make a list of messages with Messages.from([…]), not with new.");
}

function arrayOf(added: Message | Iterable<Message>): readonly Message[] {
  if (Array.isArray(added)) return added;
  if (typeof added === "object" && added !== null) return Symbol.iterator in added ? [...added] : [added];
  throw new OffstageError(
    "invalid-argument",
    `append() needs a message or a list of messages; found ${shownValue(added)}.`,
  );
}

function bounds(length: number, start = 0, end = length): [number, number] {
  const clamp = (index: number) => Math.min(Math.max(index < 0 ? length + index : index, 0), length);
  return [clamp(Math.trunc(start) || 0), clamp(Math.trunc(end) || 0)];
}

printsAs(Messages, (messages) => messages.toArray());

/**
 * The array for a version of `length + added.length` items. The newest version grows the shared array; an older one, and an empty one,
 * copies its part first.
 */
export function appendShared<T>(shared: T[], length: number, added: readonly T[]): T[] {
  const isNewest = shared.length === length && length > 0;
  const backing = isNewest ? shared : shared.slice(0, length);
  for (const item of added) backing.push(item);
  return backing;
}
