// Notes that an agent keeps between runs: how the model last saw each conversation, and which messages each memory got.
import type { AgentMemory } from "../../memory/agent-memory.ts";
import type { CompactionNote } from "../../memory/compaction/compaction-note.ts";
import { MemoryFeed } from "../../memory/memory-feed.ts";
import type { TextMemory } from "../../memory/text-memory.ts";

/** How the model last saw a conversation. */
export interface ViewNote {
  readonly note: CompactionNote | undefined;
  /** The number of messages after those that compaction has covered. The next run loads this many, and some to spare. */
  readonly tail: number;
}

const maxSessions = 1000;

export class ViewNotes {
  readonly #notes = new Map<string, ViewNote>();
  readonly #feeds = new WeakMap<AgentMemory | TextMemory, MemoryFeed>();

  of(sessionId: string | undefined): ViewNote | undefined {
    return sessionId === undefined ? undefined : this.#notes.get(sessionId);
  }

  /** Keeps the note of a session. Evicts the least recently used session if there are too many. */
  keep(sessionId: string, view: ViewNote): void {
    this.#notes.delete(sessionId);
    this.#notes.set(sessionId, view);
    const [oldest] = this.#notes.keys();
    if (this.#notes.size > maxSessions && oldest !== undefined) this.#notes.delete(oldest);
  }

  /** The feed of a memory: the same one in every run. */
  feed(memory: AgentMemory | TextMemory): MemoryFeed {
    const feed = this.#feeds.get(memory) ?? new MemoryFeed(memory);
    this.#feeds.set(memory, feed);
    return feed;
  }
}
