// The feed of a memory: hands it messages from a session or a state, each once, however often they are loaded.
import type { Message } from "../messages/message.ts";
import { fifo } from "../sessions/fifo.ts";
import type { AgentMemory } from "./agent-memory.ts";
import { messageKey } from "./message-key.ts";
import { choosesMessages, type TextMemory, withContext } from "./text-memory.ts";

/** One per memory, for as long as the memory is used. */
export class MemoryFeed {
  readonly memory: AgentMemory | TextMemory;
  readonly #gate = fifo();
  #known: Map<string, number> | undefined;

  constructor(memory: AgentMemory | TextMemory) {
    this.memory = memory;
  }

  /**
   * Adds those the memory does not hold yet. A message is known by its id; one without an id by its words, as often as
   * they stand in the list.
   */
  async add(messages: readonly Message[]): Promise<void> {
    const leave = await this.#gate.enter();
    try {
      this.#known ??= counted(await this.memory.getAllMessages());
      const known = this.#known;
      const seen = new Map<string, number>();
      const fresh = messages.filter((message) => {
        const key = messageKey(message);
        const times = (seen.get(key) ?? 0) + 1;
        seen.set(key, times);
        return times > (known.get(key) ?? 0) && !(hasId(message) && times > 1);
      });
      await this.#hand(fresh, known);
    } finally {
      leave();
    }
  }

  // What the memory took is known at once: an `add` that fails half-way is not repeated for the half that was done.
  async #hand(fresh: readonly Message[], known: Map<string, number>): Promise<void> {
    const { memory } = this;
    if (choosesMessages(memory) && fresh.length > 0) await memory.add(fresh);
    for (const message of fresh) {
      if (!choosesMessages(memory)) await memory.add(message);
      raise(known, messageKey(message));
    }
  }

  /** What the memory shows for a query, of a conversation that it was fed with. */
  async shown(query: string, tokenLimit: number, conversation: readonly Message[]): Promise<Message[]> {
    const { memory } = this;
    if (choosesMessages(memory)) return memory.getMessages(query, tokenLimit);
    return withContext(await memory.getContext(query, tokenLimit), conversation);
  }
}

function counted(messages: readonly Message[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const message of messages) raise(counts, messageKey(message));
  return counts;
}

function raise(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function hasId({ metadata }: Message): boolean {
  return typeof metadata?.id === "string" && metadata.id !== "";
}
