// The feed of a memory: adds the messages of a session or a state, each once, even if they are loaded again.
import type { Message } from "../messages/message.ts";
import { fifo } from "../sessions/head/fifo.ts";
import type { AgentMemory } from "./agent-memory.ts";
import { messageKey } from "./message-key.ts";
import { choosesMessages, type TextMemory, withContext } from "./text-memory.ts";

/** Feeds one memory for as long as it is used. */
export class MemoryFeed {
  readonly memory: AgentMemory | TextMemory;
  readonly #gate = fifo();
  #known: Map<string, number> | undefined;

  constructor(memory: AgentMemory | TextMemory) {
    this.memory = memory;
  }

  /**
   * Adds the messages that the memory does not have yet. A message is identified by its id; without an id by its content,
   * as often as that occurs in the list.
   */
  async add(messages: readonly Message[]): Promise<void> {
    const leave = await this.#gate.enter();
    try {
      this.#known ??= countKeys(await this.memory.getAllMessages());
      await this.#addFresh(this.#freshOf(messages, this.#known), this.#known);
    } finally {
      leave();
    }
  }

  /** The messages that the memory shows for a query. The conversation is the one it was fed with. */
  async shown(query: string, tokenLimit: number, conversation: readonly Message[]): Promise<Message[]> {
    const { memory } = this;
    if (choosesMessages(memory)) return memory.getMessages(query, tokenLimit);
    return withContext(await memory.getContext(query, tokenLimit), conversation);
  }

  #freshOf(messages: readonly Message[], known: ReadonlyMap<string, number>): Message[] {
    const seen = new Map<string, number>();
    return messages.filter((message) => {
      const times = increment(seen, messageKey(message));
      return times > (known.get(messageKey(message)) ?? 0) && !(hasId(message) && times > 1);
    });
  }

  // Counts each message as soon as the memory has it, so that a failed `add` does not repeat those that were added.
  async #addFresh(fresh: readonly Message[], known: Map<string, number>): Promise<void> {
    const { memory } = this;
    if (choosesMessages(memory) && fresh.length > 0) await memory.add(fresh);
    for (const message of fresh) {
      if (!choosesMessages(memory)) await memory.add(message);
      increment(known, messageKey(message));
    }
  }
}

function countKeys(messages: readonly Message[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const message of messages) increment(counts, messageKey(message));
  return counts;
}

function increment(counts: Map<string, number>, key: string): number {
  const count = (counts.get(key) ?? 0) + 1;
  counts.set(key, count);
  return count;
}

function hasId({ metadata }: Message): boolean {
  return typeof metadata?.id === "string" && metadata.id !== "";
}
