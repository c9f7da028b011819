// A session on a store. The work is done in the folders beside this file.

import { shownValue } from "../base/options.ts";
import { OffstageError } from "../errors.ts";
import type { Message } from "../messages/message.ts";
import type { MessageQuery, MessageQueryOptions } from "../query/message-query.ts";
import { type BranchOptions, branch, branchId } from "./conversation/branch.ts";
import { addItems, clearItems, popItem, popTurn, readItems, replaceItems } from "./conversation/conversation.ts";
import { parseSaid, say } from "./conversation/inbox.ts";
import { backEnds, type SqliteOptions } from "./drivers/index.ts";
import { checkId } from "./head/namespace-rows.ts";
import type { SessionCell, SessionCells } from "./head/session-cell.ts";
import { storedJournal } from "./journal/stored-journal.ts";
import type { Journal } from "./ports/journal.ts";
import type { SentMessage, Session } from "./ports/session.ts";
import { checkListRuns, type ListedRun, type ListRunsOptions, listRuns } from "./records/run-list.ts";
import { type FoundRun, getRun } from "./records/run-reader.ts";
import { querySession } from "./records/search/store-query.ts";
import { type Description, describe } from "./records/session-list.ts";
import { readTranscript } from "./records/transcript.ts";
import { type CoreOptions, checkStoreOptions, coreOn, type StoreCore } from "./store-core.ts";

/** The options of the SQLite file, by default "offstage.db" in the working directory, and of every store. */
export interface PersistentSessionOptions extends SqliteOptions, CoreOptions {}

/** The part of a store that `PersistentSession.on` needs. */
export interface SessionSource {
  session(id?: string): PersistentSession;
  ready(): Promise<void>;
}

/** A conversation on a store. Objects with the same id on the same store are the same session. */
export class PersistentSession implements Session {
  readonly sessionId: string;
  readonly #cells: SessionCells;
  readonly #owned: StoreCore | undefined;

  /** Prefer `store.session(id)` or the static makers. `owned` is closed with the session. */
  constructor(cells: SessionCells, sessionId: string = crypto.randomUUID(), owned?: StoreCore) {
    checkId(sessionId, "session id");
    this.#cells = cells;
    this.sessionId = sessionId;
    this.#owned = owned;
  }

  /** Opens a session in a SQLite file, which is created if it is missing, and closed with the session. */
  static async persistent(sessionId: string, options: PersistentSessionOptions = {}): Promise<PersistentSession> {
    checkId(sessionId, "session id");
    return PersistentSession.#open(sessionId, coreOn(backEnds.sqlite, options, "PersistentSession.persistent()"));
  }

  /** Opens a session in SQLite in memory; its data is lost when it is closed. */
  static async inMemory(
    sessionId: string = crypto.randomUUID(),
    options: CoreOptions = {},
  ): Promise<PersistentSession> {
    checkId(sessionId, "session id");
    const owner = "PersistentSession.inMemory()";
    checkStoreOptions(owner, options);
    return PersistentSession.#open(sessionId, coreOn(backEnds.sqlite, { ...options, path: ":memory:" }, owner));
  }

  /** Opens a session on a store. Closing the session does not close the store. */
  static async on(store: SessionSource, sessionId?: string): Promise<PersistentSession> {
    if (typeof store?.session !== "function") throw noStore(store);
    const session = store.session(sessionId);
    await store.ready();
    return session;
  }

  static async #open(sessionId: string, core: StoreCore): Promise<PersistentSession> {
    const session = new PersistentSession(core.cells, sessionId, core);
    await core.ready().catch(async (error) => {
      await core.close();
      throw error;
    });
    return session;
  }

  /** The tenant that the session belongs to. */
  get namespace(): string {
    return this.#cells.context.rows.namespace;
  }

  get #cell(): SessionCell {
    return this.#cells.of(this.sessionId);
  }

  async getItems(limit?: number): Promise<Message[]> {
    return readItems(this.#cell, limit);
  }

  async addItems(items: readonly Message[]): Promise<void> {
    await addItems(this.#cell, items);
  }

  /** Replaces all items, in one atomic write. */
  async replaceItems(items: readonly Message[]): Promise<void> {
    await replaceItems(this.#cell, items);
  }

  async popItem(): Promise<Message | undefined> {
    return popItem(this.#cell);
  }

  /** Removes the newest turn, which is the last user message and everything after it, and returns it. Records of runs stay. */
  async popTurn(): Promise<Message[]> {
    return popTurn(this.#cell);
  }

  /** Removes all items. Records of runs stay; `store.sessions.delete` removes those too. */
  async clearSession(): Promise<void> {
    await clearItems(this.#cell);
  }

  async getItemCount(): Promise<number> {
    return (await this.#cell.head())?.message_count ?? 0;
  }

  async addItem(item: Message): Promise<void> {
    await this.addItems([item]);
  }

  async getAllItems(): Promise<Message[]> {
    return this.getItems();
  }

  async isEmpty(): Promise<boolean> {
    return (await this.getItemCount()) === 0;
  }

  /**
   * Says something to the agent, at any time and from any process: a run that works takes it in between two steps, otherwise the next
   * run does. Durable when it resolves.
   */
  async say(message: string | Message): Promise<SentMessage> {
    return (await say(this.#cell, [parseSaid(message)])) as SentMessage;
  }

  /** The runs of this session, newest first. */
  async runs(options: Omit<ListRunsOptions, "sessionId"> = {}): Promise<ListedRun[]> {
    checkListRuns(options, "session.runs()");
    return listRuns(this.#cells, { ...options, sessionId: this.sessionId });
  }

  /** Everything recorded of a run of this session, and the calls that wait for approval; undefined if there is no such run. */
  async run(runId: string): Promise<FoundRun | undefined> {
    checkId(runId, "run id");
    const found = await getRun(this.#cells, runId);
    return found?.sessionId === this.sessionId ? found : undefined;
  }

  /** Everything that was said and done, subagents included, in the order in which it happened. */
  async transcript(): Promise<Message[]> {
    return [...(await readTranscript(this.#cells, this.sessionId)).messages];
  }

  /** Queries the transcript: filter, statistics, tool summary, timeline, export. */
  async query(options: MessageQueryOptions = {}): Promise<MessageQuery> {
    return querySession(this.#cells, this.sessionId, options);
  }

  /** Sets the title and the metadata of the session. A value that is left out stays as it is; null removes it. */
  async describe(description: Description): Promise<void> {
    await describe(this.#cell, description);
  }

  /**
   * Creates a session with the first `at` messages of this one; default all. Its runs stay here; a query over the branch finds
   * those behind its messages.
   */
  async branch(at?: number, options: BranchOptions = {}): Promise<PersistentSession> {
    const id = branchId(at, options);
    await branch(this.#cell, this.#cells.of(id), at);
    return new PersistentSession(this.#cells, id);
  }

  /** Records the runs of this session. */
  get journal(): Journal {
    return storedJournal(this.#cells, this.sessionId);
  }

  async close(): Promise<void> {
    await this.#owned?.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

function noStore(store: unknown): OffstageError {
  const hint = typeof store === "string" ? ` Pass openStore(${shownValue(store)}).` : "";
  return new OffstageError(
    "invalid-argument",
    `PersistentSession.on() needs a store; found ${shownValue(store)}.${hint}`,
  );
}
