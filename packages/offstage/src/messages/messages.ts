// Messages: an immutable list whose append is O(1) amortised. Versions share one backing array; each knows its own end. MessageStore:
// named sections of such lists in a fixed order. Both are in memory; durable stores are in sessions.
import { isObject } from "../base/json.ts";
import { checkValue, shownValue, someFunction } from "../base/options.ts";
import { printsAs } from "../base/prints-as.ts";
import { OffstageError } from "../errors.ts";
import { checkList, type Message } from "./message.ts";

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
    // The newest version grows the shared array; an older one, and an empty one, copies its part first.
    const isNewest = this.#backing.length === this.length && this.length > 0;
    const backing = isNewest ? this.#backing : this.#backing.slice(0, this.length);
    for (const message of list) backing.push(message);
    return new Messages(backing, backing.length);
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
 * The messages that `after`, one list after another, has behind those of `before`. Undefined if anything else changed: lists may only
 * have grown behind the last message of `before`.
 */
export function addedMessages(before: readonly Messages[], after: readonly Messages[]): Message[] | undefined {
  if (before.length !== after.length) return undefined;
  const added: Message[] = [];
  for (const [index, now] of after.entries()) {
    const old = before[index] as Messages;
    if (added.length > 0 && old.length > 0) return undefined;
    if (now === old) continue;
    if (!now.extends(old)) return undefined;
    for (const message of now.toArray(old.length)) added.push(message);
  }
  return added;
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

const none = Messages.empty();

/** An ordered set of named sections. A section that was never set is empty. */
export class MessageStore {
  readonly #sections: ReadonlyMap<string, Messages>;

  private constructor(sections: ReadonlyMap<string, Messages>) {
    this.#sections = sections;
  }

  /** A store of these sections, in this order. */
  static of(sections: Readonly<Record<string, Iterable<Message>>>): MessageStore {
    if (!isObject(sections)) throw notSections(sections);
    return new MessageStore(new Map(Object.entries(sections).map(([name, list]) => [name, sectionOf(name, list)])));
  }

  static empty(): MessageStore {
    return new MessageStore(new Map());
  }

  get names(): string[] {
    return [...this.#sections.keys()];
  }

  has(name: string): boolean {
    return this.#sections.has(name);
  }

  section(name: string): Messages {
    return this.#sections.get(name) ?? none;
  }

  /** The sections with these names, in this order. */
  sections(names: readonly string[]): Messages[] {
    return names.map((name) => this.#sections.get(name) ?? none);
  }

  /** The store with one section replaced, or added at the end. */
  withSection(name: string, messages: Iterable<Message>): MessageStore {
    return new MessageStore(new Map(this.#sections).set(name, sectionOf(name, messages)));
  }

  /** The store with messages appended to one section. */
  append(name: string, messages: Message | Iterable<Message>): MessageStore {
    return this.withSection(name, this.section(name).append(messages));
  }

  /** The named sections, one after another. Default: all of them. */
  compile(names: readonly string[] = this.names): Messages {
    if (!Array.isArray(names))
      throw new OffstageError(
        "invalid-argument",
        `compile() needs a list of section names; found ${shownValue(names)}.`,
      );
    const filled = this.sections(names).filter((section) => !section.isEmpty);
    return filled.length === 1
      ? (filled[0] as Messages)
      : Messages.from(filled.flatMap((section) => section.toArray()));
  }

  toJSON(): Record<string, Message[]> {
    return Object.fromEntries(Array.from(this.#sections, ([name, list]) => [name, list.toArray()]));
  }
}

function sectionOf(name: string, messages: Iterable<Message>): Messages {
  if (typeof name !== "string")
    throw new OffstageError("invalid-argument", `The name of a section must be text; found ${shownValue(name)}.`);
  if (messages instanceof Messages) return messages;
  checkList(messages, name);
  return Messages.from(messages);
}

function notSections(found: unknown): OffstageError {
  const example = "{ messages: […] }";
  return new OffstageError(
    "invalid-argument",
    `MessageStore.of() needs sections by name, such as ${example}; found ${shownValue(found)}.`,
  );
}

printsAs(MessageStore, (store) => store.toJSON());
