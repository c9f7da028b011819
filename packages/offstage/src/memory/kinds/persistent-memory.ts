// PersistentMemory: any kind of memory whose messages outlive the process, in a session of a store.

import { shownValue } from "../../base/options.ts";
import { OffstageError } from "../../errors.ts";
import type { Message } from "../../messages/message.ts";
import { type Fifo, fifo } from "../../sessions/fifo.ts";
import type { SessionPort } from "../../sessions/session.ts";
import type { AgentMemory } from "../agent-memory.ts";
import { checkedList } from "../held-messages.ts";

/** A store, as far as a memory needs one. */
export interface MemoryBackend {
  session(id: string): SessionPort;
}

/** Keeps every message in a session before the kind it stands on takes it; reads them back when it is opened. */
export class PersistentMemory implements AgentMemory {
  readonly #session: SessionPort;
  readonly #memory: AgentMemory;
  readonly #gate: Fifo = fifo();

  private constructor(session: SessionPort, memory: AgentMemory) {
    this.#session = session;
    this.#memory = memory;
  }

  /** The memory of an id in a store. Its messages are a session named "memory:" and the id, apart from any conversation. */
  static async on(store: MemoryBackend, id: string, memory: AgentMemory): Promise<PersistentMemory> {
    checkInner(memory);
    return PersistentMemory.over(store.session(`memory:${id}`), memory);
  }

  /** A memory whose messages are the items of this session. The memory must be empty: it is filled from there. */
  static async over(session: SessionPort, memory: AgentMemory): Promise<PersistentMemory> {
    checkInner(memory);
    await memory.add(await session.getItems());
    return new PersistentMemory(session, memory);
  }

  get count(): number | PromiseLike<number> {
    return this.#memory.count;
  }

  async add(message: Message | readonly Message[]): Promise<void> {
    const list = checkedList(message);
    if (list.length === 0) return;
    await this.#alone(async () => {
      await this.#session.addItems(list);
      await this.#memory.add(list);
    });
  }

  async getMessages(query: string, tokenLimit?: number): Promise<Message[]> {
    return this.#memory.getMessages(query, tokenLimit);
  }

  async getContext(query: string, tokenLimit?: number): Promise<string> {
    return this.#memory.getContext(query, tokenLimit);
  }

  async getAllMessages(): Promise<Message[]> {
    return this.#memory.getAllMessages();
  }

  /** Forgets everything, in the store too. */
  async clear(): Promise<void> {
    await this.#alone(async () => {
      await this.#session.clearSession();
      await this.#memory.clear();
    });
  }

  // One change at a time, so that the kind sees messages in the order in which they were stored.
  async #alone(change: () => Promise<void>): Promise<void> {
    const leave = await this.#gate.enter();
    try {
      await change();
    } finally {
      leave();
    }
  }
}

function checkInner(memory: AgentMemory | undefined): void {
  if (typeof memory?.add === "function") return;
  const sentence = `A PersistentMemory stands on a memory that chooses what is shown, such as new ConversationMemory(); found ${shownValue(memory)}.`;
  throw new OffstageError("invalid-argument", `${sentence} Pass it last: PersistentMemory.on(store, id, memory).`);
}
