// MessageStore: named sections of messages in a fixed order. Immutable. Not a session's store: nothing here is durable.
import { printsAs } from "../base/prints-as.ts";
import type { Message } from "./message.ts";
import { Messages } from "./messages.ts";

type Section = readonly [name: string, messages: Messages];

const none = Messages.empty();

/** An ordered set of named sections. A section that was never set reads as empty. */
export class MessageStore {
  readonly #sections: readonly Section[];

  private constructor(sections: readonly Section[]) {
    this.#sections = sections;
  }

  /** A store of these sections, in this order. */
  static of(sections: Readonly<Record<string, Iterable<Message>>>): MessageStore {
    return new MessageStore(Object.entries(sections).map(([name, list]) => [name, Messages.from(list)]));
  }

  static empty(): MessageStore {
    return new MessageStore([]);
  }

  get names(): string[] {
    return this.#sections.map(([name]) => name);
  }

  has(name: string): boolean {
    return this.#placeOf(name) !== -1;
  }

  section(name: string): Messages {
    // Not by its place: every model call asks for each section.
    const sections = this.#sections;
    for (let i = 0; i < sections.length; i++) if (sections[i]?.[0] === name) return (sections[i] as Section)[1];
    return none;
  }

  /** The store with one section replaced, or added at the end. */
  withSection(name: string, messages: Iterable<Message>): MessageStore {
    const section: Section = [name, Messages.from(messages)];
    const place = this.#placeOf(name);
    return new MessageStore(place === -1 ? [...this.#sections, section] : this.#sections.with(place, section));
  }

  /** The store with messages appended to one section. */
  append(name: string, messages: Message | Iterable<Message>): MessageStore {
    return this.withSection(name, this.section(name).append(messages));
  }

  /** The named sections, one after another; all of them where no name is given. */
  compile(names: readonly string[] = this.names): Messages {
    const filled = names.map((name) => this.section(name)).filter((section) => section.length > 0);
    const [first, ...rest] = filled;
    if (first === undefined) return none;
    return rest.length === 0 ? first : Messages.from(filled.flatMap((section) => section.toArray()));
  }

  toJSON(): Record<string, Message[]> {
    return Object.fromEntries(this.#sections.map(([name, list]) => [name, list.toArray()]));
  }

  #placeOf(name: string): number {
    const sections = this.#sections;
    for (let i = 0; i < sections.length; i++) if (sections[i]?.[0] === name) return i;
    return -1;
  }
}

printsAs(MessageStore, (store) => store.toJSON());
