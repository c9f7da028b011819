// PersistentSession: a session on a store. A face: what it does is in conversation.ts, stored-journal.ts and branch.ts.

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
import { checkSessionId, type SessionCells } from "./session-cells.ts";
import { type CoreOptions, openCore, type StoreCore } from "./store-core.ts";
import { checkStoreOptions } from "./store-rules.ts";
import { storedJournal } from "./stored-journal.ts";
import { drivers, type SqliteOptions } from "./stores/index.ts";
import { readTranscript } from "./transcript.ts";

/** The SQLite file, "offstage.db" in the working directory by default, and what every store can be told. */
export interface PersistentSessionOptions extends SqliteOptions, CoreOptions {}

/** A store, as far as `PersistentSession.on` needs one. */
export interface SessionSource {
  session(id?: string): PersistentSession;
  ready(): Promise<void>;
}

/** A conversation that outlives the process. Several objects of the same id on a store are the same session. */
export class PersistentSession implements Session {
  readonly sessionId: string;
  readonly #cells: SessionCells;
  readonly #owned: StoreCore | undefined;

  /** Prefer `store.session(id)` or the makers below. `owned` is closed with the session. */
  constructor(cells: SessionCells, sessionId: string = crypto.randomUUID(), owned?: StoreCore) {
    checkSessionId(sessionId);
    this.#cells = cells;
    this.sessionId = sessionId;
    this.#owned = owned;
  }

  /** A session in a SQLite file, which is made where it is missing and closed with the session. */
  static async persistent(sessionId: string, options: PersistentSessionOptions = {}): Promise<PersistentSession> {
    checkSessionId(sessionId);
    checkStoreOptions("PersistentSession.persistent()", options);
    return PersistentSession.#open(sessionId, openCore(drivers.sqlite(options), options));
  }

  /** A session in SQLite in memory: gone when it is closed. */
  static async inMemory(
    sessionId: string = crypto.randomUUID(),
    options: CoreOptions = {},
  ): Promise<PersistentSession> {
    checkSessionId(sessionId);
    checkStoreOptions("PersistentSession.inMemory()", options);
    return PersistentSession.#open(sessionId, openCore(drivers.sqlite({ path: ":memory:" }), options));
  }

  /** A session on a store that is open already, and stays so when the session closes. */
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

  /** Puts these items in the place of all that are there, in one write: nobody sees a moment without either. */
  async replaceItems(items: readonly Message[]): Promise<void> {
    const messages = checkedMessages(items);
    const cell = this.#cell;
    await cell.update("session.replace", replacing(cell, messages));
  }

  async popItem(): Promise<Message | undefined> {
    const cell = this.#cell;
    return cell.update("session.pop", popping(cell));
  }

  /** Removes the newest turn, the last user message and everything after it, and gives what was removed. Records of runs stay. */
  async popTurn(): Promise<Message[]> {
    const cell = this.#cell;
    return cell.update("session.pop", poppingTurn(cell));
  }

  /** Empties the conversation. The records of runs stay; `store.sessions.delete` removes those too. */
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

  /** Everything recorded of a run of this session and what it waits for, or undefined where it has none of that id. */
  async run(runId: string): Promise<FoundRun | undefined> {
    const found = await getRun(this.#cells, runId);
    return found?.sessionId === this.sessionId ? found : undefined;
  }

  /** Everything that was exchanged: the conversation and the tool traces of its runs, in order of time. */
  async transcript(): Promise<Message[]> {
    return readTranscript(this.#cell);
  }

  /** Asks about everything that was exchanged: filter, statistics, tool summary, timeline, export. */
  async query(options: MessageQueryOptions = {}): Promise<MessageQuery> {
    return new MessageQuery(await this.transcript(), options);
  }

  /** A new session with the first `at` messages of this one, without its runs; all of them where `at` is left out. */
  async branch(at?: number, options: BranchOptions = {}): Promise<PersistentSession> {
    const id = branchId(at, options);
    await branch(this.#cell, this.#cells.of(id), at);
    return new PersistentSession(this.#cells, id);
  }

  /** Where agents record the runs of this session. */
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
