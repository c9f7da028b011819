// A session in memory: one session of a store in memory. Its data is lost with the object.
import type { Message } from "../messages/message.ts";
import type { MessageQuery, MessageQueryOptions } from "../query/message-query.ts";
import type { BranchOptions } from "./conversation/branch.ts";
import { memoryStore } from "./open-store.ts";
import type { PersistentSession } from "./persistent-session.ts";
import type { Journal } from "./ports/journal.ts";
import type { SentMessage, Session } from "./ports/session.ts";
import type { ListedRun, ListRunsOptions } from "./records/run-list.ts";
import type { FoundRun } from "./records/run-reader.ts";
import type { Description } from "./records/session-list.ts";

/** A conversation in memory. */
export class InMemorySession implements Session {
  readonly sessionId: string;
  readonly #session: PersistentSession;

  /** `on` is the session of a store in memory to show; only branches pass it. */
  constructor(sessionId?: string, on: PersistentSession = memoryStore().session(sessionId)) {
    this.#session = on;
    this.sessionId = on.sessionId;
  }

  getItems(limit?: number): Promise<Message[]> {
    return this.#session.getItems(limit);
  }

  addItems(items: readonly Message[]): Promise<void> {
    return this.#session.addItems(items);
  }

  /** Replaces all items. */
  replaceItems(items: readonly Message[]): Promise<void> {
    return this.#session.replaceItems(items);
  }

  popItem(): Promise<Message | undefined> {
    return this.#session.popItem();
  }

  /** Removes the newest turn, which is the last user message and everything after it, and returns it. */
  popTurn(): Promise<Message[]> {
    return this.#session.popTurn();
  }

  clearSession(): Promise<void> {
    return this.#session.clearSession();
  }

  getItemCount(): Promise<number> {
    return this.#session.getItemCount();
  }

  addItem(item: Message): Promise<void> {
    return this.#session.addItem(item);
  }

  getAllItems(): Promise<Message[]> {
    return this.#session.getAllItems();
  }

  isEmpty(): Promise<boolean> {
    return this.#session.isEmpty();
  }

  /** Says something to the agent: a run that works takes it in between two steps, otherwise the next run does. */
  say(message: string | Message): Promise<SentMessage> {
    return this.#session.say(message);
  }

  /** The runs of this session, newest first. */
  runs(options?: Omit<ListRunsOptions, "sessionId">): Promise<ListedRun[]> {
    return this.#session.runs(options);
  }

  /** Everything recorded of a run, and the calls that wait for approval. */
  run(runId: string): Promise<FoundRun | undefined> {
    return this.#session.run(runId);
  }

  /** Everything that was said and done, subagents included, in the order in which it happened. */
  transcript(): Promise<Message[]> {
    return this.#session.transcript();
  }

  /** Queries the transcript: filter, statistics, tool summary, timeline, export. */
  query(options?: MessageQueryOptions): Promise<MessageQuery> {
    return this.#session.query(options);
  }

  /** Sets the title and the metadata of the session. */
  describe(description: Description): Promise<void> {
    return this.#session.describe(description);
  }

  /** Creates a session with the first `at` messages of this one; default all. */
  async branch(at?: number, options?: BranchOptions): Promise<InMemorySession> {
    const branch = await this.#session.branch(at, options);
    return new InMemorySession(branch.sessionId, branch);
  }

  /** Records the runs of this session. */
  get journal(): Journal {
    return this.#session.journal;
  }

  async close(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}
}
