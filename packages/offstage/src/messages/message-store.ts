// MessageStore: named sections of messages in a fixed order. Immutable. Not a session's store: nothing here is durable.
import type { Message } from "./message.ts";
import { Messages } from "./messages.ts";

type Sections = Readonly<Record<string, Iterable<Message>>>;

/** An ordered set of named sections. A section that was never set reads as empty. */
export class MessageStore {
  readonly #sections: ReadonlyMap<string, Messages>;

  private constructor(sections: ReadonlyMap<string, Messages>) {
    this.#sections = sections;
  }

  /** A store of these sections, in this order. */
  static of(sections: Sections): MessageStore {
    return new MessageStore(new Map(Object.entries(sections).map(([name, list]) => [name, Messages.from(list)])));
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
    return this.#sections.get(name) ?? Messages.empty();
  }

  /** The store with one section replaced, or added at the end. */
  withSection(name: string, messages: Iterable<Message>): MessageStore {
    return new MessageStore(new Map(this.#sections).set(name, Messages.from(messages)));
  }

  /** The store with messages appended to one section. */
  append(name: string, messages: Message | Iterable<Message>): MessageStore {
    return this.withSection(name, this.section(name).append(messages));
  }

  /** The named sections, one after another; all of them where no name is given. */
  compile(names: readonly string[] = this.names): Messages {
    const filled = names.map((name) => this.section(name)).filter((section) => section.length > 0);
    const [first, ...rest] = filled;
    if (first === undefined) return Messages.empty();
    return rest.length === 0 ? first : Messages.from(filled.flatMap((section) => section.toArray()));
  }

  toJSON(): Record<string, Message[]> {
    return Object.fromEntries([...this.#sections].map(([name, list]) => [name, list.toArray()]));
  }
}
