// What an agent knows of its conversations between runs: how far each was compacted, and what its memories were fed.
import type { AgentMemory } from "../../memory/agent-memory.ts";
import type { CompactionNote } from "../../memory/compaction/compaction-note.ts";
import { MemoryFeed } from "../../memory/memory-feed.ts";
import type { TextMemory } from "../../memory/text-memory.ts";

/** How a conversation was last shown. */
export interface ShownNote {
  readonly note: CompactionNote | undefined;
  /** How many messages stood behind what was left out: as many are loaded next time, and some to spare. */
  readonly tail: number;
}

const mostSessions = 1000;

export class ShownNotes {
  readonly #notes = new Map<string, ShownNote>();
  readonly #feeds = new WeakMap<AgentMemory | TextMemory, MemoryFeed>();

  of(sessionId: string | undefined): ShownNote | undefined {
    return sessionId === undefined ? undefined : this.#notes.get(sessionId);
  }

  /** Keeps the newest; the session that was used least recently is forgotten first, and read anew. */
  keep(sessionId: string, shown: ShownNote): void {
    this.#notes.delete(sessionId);
    this.#notes.set(sessionId, shown);
    const [oldest] = this.#notes.keys();
    if (this.#notes.size > mostSessions && oldest !== undefined) this.#notes.delete(oldest);
  }

  feed(memory: AgentMemory | TextMemory): MemoryFeed {
    const feed = this.#feeds.get(memory) ?? new MemoryFeed(memory);
    this.#feeds.set(memory, feed);
    return feed;
  }
}
