// Notes that an agent keeps between runs: how the model last saw each conversation, and which messages each memory got.
import type { AgentMemory } from "../../memory/agent-memory.ts";
import type { CompactionNote } from "../../memory/compaction/compaction-note.ts";
import { MemoryFeed } from "../../memory/memory-feed.ts";
import type { TextMemory } from "../../memory/text-memory.ts";
import { journalFor } from "../../sessions/journal/plain-journal.ts";
import type { SessionPort } from "../../sessions/ports/session.ts";

const maxSessions = 1000;

export class ViewNotes {
  // By store and namespace, then by session: sessions of two tenants may have the same id.
  readonly #notes = new WeakMap<object, Map<string, CompactionNote | undefined>>();
  readonly #feeds = new WeakMap<AgentMemory | TextMemory, MemoryFeed>();

  /** How the model last saw the conversation of a session; undefined if it saw all of it, or none. */
  of(session: SessionPort): CompactionNote | undefined {
    return this.#notes.get(journalFor(session).scope)?.get(session.sessionId);
  }

  /** Keeps the note of a session. Evicts the least recently used session if there are too many. */
  keep(session: SessionPort, note: CompactionNote | undefined): void {
    const { scope } = journalFor(session);
    const notes = this.#notes.get(scope) ?? new Map<string, CompactionNote | undefined>();
    this.#notes.set(scope, notes);
    notes.delete(session.sessionId);
    notes.set(session.sessionId, note);
    const [oldest] = notes.keys();
    if (notes.size > maxSessions && oldest !== undefined) notes.delete(oldest);
  }

  /** The feed of a memory: the same one in every run. */
  feed(memory: AgentMemory | TextMemory): MemoryFeed {
    const feed = this.#feeds.get(memory) ?? new MemoryFeed(memory);
    this.#feeds.set(memory, feed);
    return feed;
  }
}
