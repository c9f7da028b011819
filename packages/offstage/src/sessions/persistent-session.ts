// A session on a store. The work is done in conversation.ts, stored-journal.ts and branch.ts.

import { shownValue } from "../base/options.ts";
import { OffstageError } from "../errors.ts";
import type { Message } from "../messages/message.ts";
import { MessageQuery, type MessageQueryOptions } from "../query/message-query.ts";
import { branch } from "./branch.ts";
import { type BranchOptions, branchId } from "./branch-options.ts";
import { appending, clearing, popping, poppingTurn, readItems, replacing } from "./conversation.ts";
import { someCursor } from "./cursor.ts";
import type { FoundRun } from "./found-run.ts";
import type { Journal } from "./journal.ts";
import { checkedMessages } from "./message-rows.ts";
import { checkRunFilter } from "./run-filter.ts";
import { getRun, type ListedRun, type ListRunsOptions, listRuns } from "./run-list.ts";
import type { Session } from "./session.ts";
import type { SessionCell } from "./session-cell.ts";
import { checkSessionId, type SessionCells } from "./session-cell.ts";
import { type CoreOptions, openCore, type StoreCore } from "./store-core.ts";
import { checkStoreOptions } from "./store-rules.ts";
import { storedJournal } from "./stored-journal.ts";
import { drivers, type SqliteOptions } from "./stores/index.ts";
import { readTranscript } from "./transcript.ts";

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
    checkSessionId(sessionId);
    this.#cells = cells;
    this.sessionId = sessionId;
    this.#owned = owned;
  }

  /** Opens a session in a SQLite file, which is created if it is missing, and closed with the session. */
  static async persistent(sessionId: string, options: PersistentSessionOptions = {}): Promise<PersistentSession> {
    checkSessionId(sessionId);
    checkStoreOptions("PersistentSession.persistent()", options);
    return PersistentSession.#open(sessionId, openCore(drivers.sqlite(options), options));
  }

  /** Opens a session in SQLite in memory; its data is lost when it is closed. */
  static async inMemory(
    sessionId: string = crypto.randomUUID(),
    options: CoreOptions = {},
  ): Promise<PersistentSession> {
    checkSessionId(sessionId);
    checkStoreOptions("PersistentSession.inMemory()", options);
    return PersistentSession.#open(sessionId, openCore(drivers.sqlite({ path: ":memory:" }), options));
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

  get #cell(): SessionCell {
    return this.#cells.of(this.sessionId);
  }

  async getItems(limit?: number): Promise<Message[]> {
    return readItems(this.#cell, limit);
  }

  async addItems(items: readonly Message[]): Promise<void> {
    const messages = checkedMessages(items);
    const cell = this.#cell;
    if (messages.length > 0) await cell.update("session.add", appending(cell, messages));
    else await cell.context.driver.ready();
  }

  /** Replaces all items, in one atomic write. */
  async replaceItems(items: readonly Message[]): Promise<void> {
    const messages = checkedMessages(items);
    const cell = this.#cell;
    await cell.update("session.replace", replacing(cell, messages));
  }

  async popItem(): Promise<Message | undefined> {
    const cell = this.#cell;
    return cell.update("session.pop", popping(cell));
  }

  /** Removes the newest turn, which is the last user message and everything after it, and returns it. Records of runs stay. */
  async popTurn(): Promise<Message[]> {
    const cell = this.#cell;
    return cell.update("session.pop", poppingTurn(cell));
  }

  /** Removes all items. Records of runs stay; `store.sessions.delete` removes those too. */
  async clearSession(): Promise<void> {
    const cell = this.#cell;
    await cell.update("session.clear", clearing(cell));
  }

  async getItemCount(): Promise<number> {
    return (await this.#cell.head())?.count ?? 0;
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

  /** The runs of this session, newest first. */
  async runs(options: Omit<ListRunsOptions, "sessionId"> = {}): Promise<ListedRun[]> {
    checkRunFilter(options, { before: someCursor }, "session.runs()");
    return listRuns(this.#cells, { ...options, sessionId: this.sessionId });
  }

  /** Everything recorded of a run of this session, and the calls that wait for approval; undefined if there is no such run. */
  async run(runId: string): Promise<FoundRun | undefined> {
    const found = await getRun(this.#cells, runId);
    return found?.sessionId === this.sessionId ? found : undefined;
  }

  /** The conversation together with the tool traces of its runs, in chronological order. */
  async transcript(): Promise<Message[]> {
    return readTranscript(this.#cell);
  }

  /** Queries the transcript: filter, statistics, tool summary, timeline, export. */
  async query(options: MessageQueryOptions = {}): Promise<MessageQuery> {
    return new MessageQuery(await this.transcript(), options);
  }

  /** Creates a session with the first `at` messages of this one, default all, without its runs. */
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
