// One session as this process knows it, and the one way to change it: compare-and-swap on its head, the session's row in the table
// "sessions". Every change of a session changes its head, and names itself there.
import { setTimeout as sleep } from "node:timers/promises";
import { OffstageError } from "../../errors.ts";
import type { Message } from "../../messages/message.ts";
import { SessionConflictError } from "../ports/session.ts";
import type { Committed, Write, WriteLabel } from "../ports/store-driver.ts";
import type { SessionRow } from "../ports/tables.ts";
import { checkId, type Report } from "../rows/check-row.ts";
import type { Content, Hasher, RowRef } from "../rows/contents.ts";
import { deepFreeze } from "../rows/plain-json.ts";
import type { MessageRedactor } from "../rows/redaction.ts";
import type { Sending } from "./connection.ts";
import { type Fifo, fifo } from "./fifo.ts";
import { type Holds, holderOf, newWatch, type Watch } from "./hold.ts";
import type { NamespaceRows } from "./namespace-rows.ts";

/** Which model inputs a store keeps: all of them, only their hashes, or none. */
export type KeepInput = "all" | "hashes" | false;

/** The context that all parts of an open store share, for one namespace. */
export interface StoreContext {
  readonly rows: NamespaceRows;
  readonly writer: StoreWriter;
  /** Changes messages before they are written. */
  readonly redact: MessageRedactor | undefined;
  readonly keepInput: KeepInput;
  readonly report: Report;
  /** The leases that runs of this store hold. */
  readonly holds: Holds;
  /** The contents of model setups that were stored. */
  readonly setups: WeakMap<object, Content>;
}

/** A change of a session. */
export interface Change<T> {
  readonly result: T;
  /** Rows beside the head. Default: none. */
  readonly writes?: readonly Write[];
  /** The head after the change, if more than its version changes. */
  readonly head?: SessionRow;
  /** The conversation changed, so the session moves to the front of the list of sessions. */
  readonly isActive?: boolean;
  /** Messages that the writes append to the conversation. */
  readonly appended?: readonly Message[];
  /** The conversation changes other than by appending. */
  readonly isRewrite?: boolean;
  /** The session is removed, including its head. */
  readonly isGone?: boolean;
  /** Adds the number that the store issued to the result. Not called if the reply with the number was lost. */
  readonly withNumber?: (result: T, number: number) => T;
}

/** Computes a change from the current head; throws to refuse it. */
export type MakeChange<T> = (head: SessionRow) => Promise<Change<T>>;

/** A change that was requested. */
interface Task<T> extends Sending {
  readonly label: WriteLabel;
  readonly make: MakeChange<T>;
  readonly operation: string;
}

const mostAttempts = 200;
const mostContents = 1_000;

export class SessionCell {
  readonly id: string;
  readonly namespace: string;
  readonly context: StoreContext;
  /** Tool traces of finished runs, by run id. */
  readonly traces: Map<string, readonly Message[]> = new Map();
  /** Hashes of contents that the session is known to have. */
  readonly contents: Set<string> = new Set();
  /** The rows of the messages that this process has read or written. */
  readonly refs: WeakMap<Message, RowRef> = new WeakMap();
  /** Runs of this process on the session, one at a time. */
  readonly gate: Fifo = fifo();
  /** For how long the lease of another process has not been renewed. */
  readonly leaseWatch: Watch = newWatch();
  /** For how long the mark of another process that waits has not been renewed. */
  readonly waitingWatch: Watch = newWatch();
  /** Called with each new head, written or read by this process, that asks a run to stop. They must not throw. */
  readonly stopWatchers: Set<(head: SessionRow) => void> = new Set();
  /** The head as this process knows it: as of its last write, or newer. */
  knownHead: SessionRow | undefined;
  /** The latest messages, if they are known under the current head. */
  tail: Tail | undefined;
  #isKnown = false;
  #latest: Promise<void> = Promise.resolve();
  #pending = 0;

  constructor(context: StoreContext, id: string) {
    checkId(id, "session id");
    this.context = context;
    this.id = id;
    this.namespace = context.rows.namespace;
  }

  /** The session, as errors name it. */
  get name(): string {
    return `session "${this.id}" in ${this.context.rows.name}`;
  }

  /** Makes the hashes of contents. */
  readonly hasher: Hasher = (text) => this.context.rows.hashOf(text);

  /** True if no work is in progress, so that the cell may be dropped. */
  get isIdle(): boolean {
    return this.#pending === 0 && !this.gate.isHeld;
  }

  /** Reads the head from the store; undefined if the session was never written. */
  head(): Promise<SessionRow | undefined> {
    return this.context.rows.get("sessions", [this.id]);
  }

  /** Makes the next change read the head again. */
  forget(): void {
    this.#isKnown = false;
    this.tail = undefined;
  }

  /** Applies a change exactly once, after the changes requested before it. Closing the store waits for it. */
  update<T>(label: WriteLabel, make: MakeChange<T>): Promise<T> {
    const { holds, writer } = this.context;
    const task = { label, make, operation: writer.operation(), isRepeated: false };
    const work = this.#latest.then(() => this.#apply(task));
    const settle = (): void => {
      this.#pending--;
      holds.expected.delete(work);
    };
    this.#pending++;
    holds.expected.add(work);
    this.#latest = work.then(settle, settle);
    return work;
  }

  async #apply<T>(task: Task<T>): Promise<T> {
    for (let attempt = 0; attempt <= mostAttempts; attempt++) {
      if (attempt > 4) {
        await sleep(Math.random() * Math.min(attempt, 50));
        // Read again: the head may have changed many times meanwhile.
        this.forget();
      }
      if (!this.#isKnown) this.#learn(await this.head());
      this.#isKnown = true;
      const done = await this.#attempt(task);
      if (done !== undefined) return done.result;
    }
    throw new SessionConflictError(
      `Session "${this.id}" could not be changed because other writers kept changing it; nothing was written. Try again.`,
    );
  }

  // Undefined if another writer was faster. The head does not change meanwhile, because changes are applied one at a time.
  async #attempt<T>(task: Task<T>): Promise<Pick<Change<T>, "result"> | undefined> {
    const before = this.knownHead;
    const current = before ?? newHead(this.namespace, this.id);
    const change = await task.make(current);
    const { writes = [], isGone = false } = change;
    const isWritten = change.head !== undefined || (writes.length > 0 && !isGone);
    const head = isWritten ? withOperation(change.head ?? current, task.operation) : undefined;
    const committed = await this.#commit(task, change, head);
    if (committed.refused === undefined) {
      const { number } = committed;
      this.#accept(change, head, number);
      return number === undefined || !change.withNumber ? change : { result: change.withNumber(change.result, number) };
    }
    const found = committed.refused[0] as SessionRow | undefined;
    this.#learn(found);
    // The reply of a commit may have been lost, and the change was written.
    if (hasOperation(found, task.operation)) return change;
    if (!task.isRepeated) return undefined;
    if (isGone && found === undefined) return change;
    // It may be retried only if its operation would still be in the head had it been written.
    if (!remembersSince(found, before))
      throw new OffstageError(
        "store-connection",
        `The connection to ${this.context.rows.name} was lost during a write to session "${this.id}", and too many other writes followed to tell whether it was stored. Read the session before you try again.`,
      );
    task.isRepeated = false;
    return undefined;
  }

  async #commit<T>(task: Task<T>, change: Change<T>, head: SessionRow | undefined): Promise<Committed> {
    const { writes = [], isActive } = change;
    const version = this.knownHead?.version;
    const where = version === undefined ? undefined : { version };
    const numbered = isActive ? "activity" : undefined;
    const all = head === undefined ? writes : [...writes, { table: "sessions", row: head, numbered } as const];
    try {
      const checks = [{ table: "sessions" as const, key: [this.id], where }];
      return await this.context.rows.commit({ label: task.label, checks, writes: all }, task);
    } catch (error) {
      // The outcome may be unknown: reread the head.
      this.forget();
      throw error;
    }
  }

  #accept<T>(change: Change<T>, head: SessionRow | undefined, number?: number): void {
    const { appended, isRewrite, isGone, isActive, writes = [] } = change;
    for (const write of writes)
      if (write.table === "contents" && "row" in write && this.contents.size < mostContents)
        this.contents.add(String(write.row.hash));
    const hasOtherMessages = head !== undefined && head.message_count !== this.knownHead?.message_count;
    if (isRewrite || (hasOtherMessages && appended === undefined)) this.tail = undefined;
    if (isGone) {
      this.traces.clear();
      this.contents.clear();
      this.knownHead = undefined;
    } else if (head !== undefined)
      this.knownHead = isActive && number !== undefined ? { ...head, activity: number } : head;
    if (appended !== undefined && this.tail !== undefined) this.tail = extendTail(this.tail, appended);
    this.#notify();
  }

  // If another writer changed the head, the cached messages are stale.
  #learn(found: SessionRow | undefined): void {
    if (found?.version === this.knownHead?.version) return;
    this.tail = undefined;
    this.knownHead = found;
    // It may have been deleted and created again.
    this.contents.clear();
    this.traces.clear();
    this.#notify();
  }

  #notify(): void {
    const { knownHead: head } = this;
    if (head !== undefined && head.stop_requested !== null) for (const watcher of this.stopWatchers) watcher(head);
  }
}

const mostIdle = 64;

/** The cells of a namespace. An id has one cell for as long as work on it is in progress. */
export interface SessionCells {
  readonly context: StoreContext;
  of(sessionId: string): SessionCell;
}

export function sessionCells(context: StoreContext): SessionCells {
  const cells = new Map<string, SessionCell>();
  // A map keeps insertion order, so the least recently used cells come first.
  const forgetIdle = (current: SessionCell): void => {
    for (const [id, cell] of cells) {
      if (cells.size <= mostIdle) return;
      if (cell !== current && cell.isIdle) cells.delete(id);
    }
  };
  return {
    context,
    of(sessionId) {
      const cell = cells.get(sessionId) ?? new SessionCell(context, sessionId);
      cells.delete(sessionId);
      cells.set(sessionId, cell);
      if (cells.size > mostIdle) forgetIdle(cell);
      return cell;
    },
  };
}

const mostMessages = 256;
const mostCharacters = 256 * 1024;

/** The cached end of a conversation, bounded, so that the next run need not read it again. Its messages are deep-frozen because runs share them. */
export interface Tail {
  readonly messages: readonly Message[];
  /** The cache holds the whole conversation. */
  readonly isWhole: boolean;
  /** The total length of its messages as text. */
  readonly size: number;
}

export const emptyTail: Tail = { messages: [], isWhole: true, size: 0 };

/** Caches these messages. */
export function tailOf(messages: readonly Message[], isWhole: boolean): Tail {
  return extendTail({ ...emptyTail, isWhole }, messages);
}

/** Appends messages to the cache; beyond its bounds the older half is dropped. */
export function extendTail(tail: Tail, added: readonly Message[]): Tail {
  const messages = [...tail.messages, ...added.map((message) => deepFreeze(message))];
  const size = added.reduce((sum, message) => sum + sizeOf(message), tail.size);
  if (messages.length <= mostMessages && size <= mostCharacters) return { messages, isWhole: tail.isWhole, size };
  const kept = messages.slice(messages.length >> 1);
  return { messages: kept, isWhole: false, size: size * (kept.length / messages.length) };
}

function sizeOf({ content }: Message): number {
  return typeof content === "string" ? content.length : JSON.stringify(content ?? null).length;
}

/** The length of the writer's token at the start of an operation id. */
const writerLength = 8;

/** A store as a writer. Its token is made on first use: not every runtime has random numbers while modules load. */
export class StoreWriter {
  #token: string | undefined;
  #holder: string | undefined;
  #operations = 0;

  /** Identifies the store as the holder of leases. */
  get holder(): string {
    this.#token ??= crypto.randomUUID().slice(0, writerLength);
    this.#holder ??= holderOf(this.#token);
    return this.#holder;
  }

  /** Makes the id of a new write. */
  operation(): string {
    this.#token ??= crypto.randomUUID().slice(0, writerLength);
    return `${this.#token}${(++this.#operations).toString(36)}`;
  }
}

// Enough for about fifteen writers. One operation per writer is enough because each requests one change at a time.
const versionLength = 200;

/** The head of a session that does not exist yet. */
export function newHead(namespace: string, sessionId: string): SessionRow {
  const now = new Date().toISOString();
  return {
    namespace,
    session_id: sessionId,
    title: null,
    metadata: null,
    created_at: now,
    updated_at: now,
    message_count: 0,
    run_count: 0,
    last_agent: null,
    last_status: null,
    branched_from: null,
    branched_at: null,
    activity: 0,
    next_seq: 1,
    next_position: 1,
    next_run: 1,
    version: "",
    fence: 0,
    lease_run: null,
    lease_holder: null,
    lease_seen: null,
    waiting_holder: null,
    waiting_seen: null,
    inbox_count: 0,
    stop_requested: null,
    exact: null,
  };
}

/** True if the session exists: its head was written. */
export function exists({ version }: SessionRow): boolean {
  return version !== "";
}

/** Adds an operation to the version, in place of the previous one of the same writer. */
export function withOperation(head: SessionRow, operation: string): SessionRow {
  const others = withoutWriter(head.version, operation.slice(0, writerLength));
  return { ...head, version: `${others} ${operation}`.slice(-versionLength) };
}

function withoutWriter(version: string, writer: string): string {
  const start = version.indexOf(` ${writer}`);
  if (start < 0) return version;
  const end = version.indexOf(" ", start + 1);
  return end < 0 ? version.slice(0, start) : version.slice(0, start) + version.slice(end);
}

/** True if the operation is among the latest. */
export function hasOperation(head: SessionRow | undefined, operation: string): boolean {
  return head?.version.endsWith(` ${operation}`) || head?.version.includes(` ${operation} `) || false;
}

/**
 * True if every operation since `before` must still be in `now`: either none was ever dropped, or an older one is still there.
 * The oldest are dropped first. A full version stays full, because the operation ids of a writer never get shorter.
 */
export function remembersSince(now: SessionRow | undefined, before: SessionRow | undefined): boolean {
  if (now === undefined || now.version.length < versionLength) return true;
  return before?.version.split(" ").some((operation) => operation !== "" && hasOperation(now, operation)) ?? false;
}
