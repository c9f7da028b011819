// PersistentMemory: wraps any memory and keeps its messages in a store, so that they outlive the process.
import { checkRequired, objectWith, someText } from "../../base/options.ts";
import type { Message } from "../../messages/message.ts";
import { type Fifo, fifo } from "../../sessions/head/fifo.ts";
import type { SessionPort } from "../../sessions/ports/session.ts";
import type { MemoryRows } from "../../sessions/records/memories.ts";
import type { AgentMemory } from "../agent-memory.ts";
import { checkMessages } from "../held-messages.ts";

/** The part of a store that a memory needs. */
export interface MemoryBackend {
  memory(id: string): MemoryRows;
}

const innerMemory = objectWith(
  "a memory such as new ConversationMemory(), passed as the last argument",
  ...["add", "getMessages", "getContext", "getAllMessages", "clear"],
);

/** Stores every message before the inner memory gets it, and reads all of them back when it is opened. */
export class PersistentMemory implements AgentMemory {
  readonly #rows: MemoryRows;
  readonly #memory: AgentMemory;
  readonly #gate: Fifo = fifo();

  private constructor(rows: MemoryRows, memory: AgentMemory) {
    this.#rows = rows;
    this.#memory = memory;
  }

  /** Opens the memory with this id. The inner memory must be empty: it is filled from the store. */
  static async on(store: MemoryBackend, id: string, memory: AgentMemory): Promise<PersistentMemory> {
    checkRequired("store", store, objectWith("a store, such as openStore(…)", "memory"));
    checkRequired("id", id, someText);
    return PersistentMemory.#open(store.memory(id), memory);
  }

  /** Opens a memory whose messages are the items of this session. The inner memory must be empty: it is filled from there. */
  static async over(session: SessionPort, memory: AgentMemory): Promise<PersistentMemory> {
    checkRequired("session", session, objectWith("a session", "getItems", "addItems"));
    return PersistentMemory.#open(rowsOf(session), memory);
  }

  static async #open(rows: MemoryRows, memory: AgentMemory): Promise<PersistentMemory> {
    checkRequired("memory", memory, innerMemory);
    await memory.add(await rows.getItems());
    return new PersistentMemory(rows, memory);
  }

  get count(): number | PromiseLike<number> {
    return this.#memory.count;
  }

  async add(message: Message | readonly Message[]): Promise<void> {
    const list = checkMessages(message);
    if (list.length === 0) return;
    await this.#alone(async () => {
      await this.#rows.addItems(list);
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

  /** Removes all messages, also from the store. */
  async clear(): Promise<void> {
    await this.#alone(async () => {
      await this.#rows.clear();
      await this.#memory.clear();
    });
  }

  // One change at a time, so that the inner memory gets messages in the order in which they were stored.
  async #alone(change: () => Promise<void>): Promise<void> {
    const leave = await this.#gate.enter();
    try {
      await change();
    } finally {
      leave();
    }
  }
}

function rowsOf(session: SessionPort): MemoryRows {
  return {
    getItems: () => session.getItems(),
    addItems: (items) => session.addItems(items),
    clear: () => session.clearSession(),
  };
}
