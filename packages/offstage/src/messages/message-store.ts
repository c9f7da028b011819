// MessageStore: named sections of messages in a fixed order. Immutable, in memory; durable stores are in sessions.
import { isObject } from "../base/json.ts";
import { shownValue } from "../base/options.ts";
import { printsAs } from "../base/prints-as.ts";
import { OffstageError } from "../errors.ts";
import { checkList } from "./codec.ts";
import type { Message } from "./message.ts";
import { Messages } from "./messages.ts";

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
