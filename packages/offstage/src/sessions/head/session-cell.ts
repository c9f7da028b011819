// One session as this process knows it, and the one way to change it: compare-and-swap on its head.
import { setTimeout as sleep } from "node:timers/promises";
import { shownValue } from "../../base/options.ts";
import { OffstageError } from "../../errors.ts";
import type { Message } from "../../messages/message.ts";
import { SessionConflictError } from "../ports/session.ts";
import type { Write, WriteLabel } from "../ports/store-driver.ts";
import type { SessionRow } from "../ports/tables.ts";
import { isStorable, longestId } from "../rows/check-row.ts";
import type { Hasher, MessageRef } from "../rows/contents.ts";
import type { Sending } from "./connection.ts";
import { type Fifo, fifo } from "./fifo.ts";
import { noSighting, type Sighting } from "./hold.ts";
import type { CommittedRows } from "./namespace-rows.ts";
import { hasOperation, newHead, remembersSince, withOperation } from "./session-head.ts";
import type { StoreContext } from "./store-context.ts";
import { extendTail, type Tail } from "./tail.ts";

/** A change of a session. */
export interface Change<T> {
  readonly result: T;
  /** Rows beside the head. */
  readonly writes: readonly Write[];
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
  /** Called with the number that the store issued, if it is known. */
  readonly onNumber?: (number: number) => void;
}

/** Computes a change from the current head; throws to refuse it. */
export type Changing<T> = (head: SessionRow) => Promise<Change<T>>;

/** A change that was requested. */
interface Task<T> extends Sending {
  readonly label: WriteLabel;
  readonly changing: Changing<T>;
  readonly operation: string;
}

/** The result of a change; undefined if another writer was faster and the change must be tried again. */
type Attempt<T> = { readonly result: T } | undefined;

const mostAttempts = 200;
const mostContents = 1_000;

export class SessionCell {
  readonly id: string;
  readonly context: StoreContext;
  /** Tool traces of finished runs, by run id. */
  readonly traces: Map<string, readonly Message[]> = new Map();
  /** Hashes of contents that the session is known to have. */
  readonly contents: Set<string> = new Set();
  /** References to the messages that this process has read or written. */
  readonly refs: WeakMap<Message, MessageRef> = new WeakMap();
  /** Runs of this process on the session, one at a time. */
  readonly gate: Fifo = fifo();
  /** For how long the lease of another process has not been renewed. */
  readonly sighting: Sighting = noSighting();
  /** For how long another process has been waiting. */
  readonly waitingSighting: Sighting = noSighting();
  #head: SessionRow | undefined;
  #isKnown = false;
  #tail: Tail | undefined;
  #latest: Promise<void> = Promise.resolve();
  #pending = 0;

  constructor(context: StoreContext, id: string) {
    this.context = context;
    this.id = id;
  }

  get namespace(): string {
    return this.context.rows.namespace;
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

  /** The latest messages, if they are known under the current head. */
  get tail(): Tail | undefined {
    return this.#tail;
  }

  /** Caches the latest messages as read under the head that a change was given. */
  keepTail(tail: Tail): void {
    this.#tail = tail;
  }

  /** Reads the head from the store; undefined if the session was never written. */
  head(): Promise<SessionRow | undefined> {
    return this.context.rows.get("sessions", [this.id]);
  }

  /** Makes the next change read the head again. */
  forget(): void {
    this.#isKnown = false;
    this.#tail = undefined;
  }

  /** Applies a change exactly once, after the changes requested before it. Closing the store waits for it. */
  update<T>(label: WriteLabel, changing: Changing<T>): Promise<T> {
    const task = { label, changing, operation: this.context.operation(), isRepeated: false };
    this.#pending++;
    const work = this.#latest.then(() => this.#apply(task));
    const settle = (): void => {
      this.#pending--;
    };
    this.#latest = work.then(settle, settle);
    this.context.holds.expect(work);
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

  // The head does not change meanwhile, because changes are applied one at a time.
  async #attempt<T>(task: Task<T>): Promise<Attempt<T>> {
    const before = this.#head ?? newHead(this.namespace, this.id);
    const change = await task.changing(before);
    const isWritten = change.head !== undefined || (change.writes.length > 0 && !change.isGone);
    const head = isWritten ? withOperation(change.head ?? before, task.operation) : undefined;
    const committed = await this.#commit(task, change, head);
    if (committed.refused === undefined) this.#accept(change, head, committed.number);
    else if (!this.#hasArrived(task, change, committed.refused[0] as SessionRow | undefined)) {
      task.isRepeated = false;
      return undefined;
    }
    return { result: change.result };
  }

  async #commit<T>(task: Task<T>, change: Change<T>, head: SessionRow | undefined): Promise<CommittedRows> {
    const version = this.#head?.version;
    const where = version === undefined ? undefined : { version };
    const numbered = change.isActive ? "activity" : undefined;
    const writes =
      head === undefined ? change.writes : [...change.writes, { table: "sessions", row: head, numbered } as const];
    try {
      const checks = [{ table: "sessions" as const, key: [this.id], where }];
      return await this.context.rows.commit({ label: task.label, checks, writes }, task);
    } catch (error) {
      // The outcome may be unknown: reread the head.
      this.forget();
      throw error;
    }
  }

  // True if a refused change had already been written, by a commit whose reply was lost.
  #hasArrived(
    { operation, isRepeated }: Task<unknown>,
    change: Change<unknown>,
    found: SessionRow | undefined,
  ): boolean {
    const before = this.#head;
    this.#learn(found);
    if (hasOperation(found, operation)) return true;
    if (!isRepeated) return false;
    if (change.isGone && found === undefined) return true;
    this.#checkUnwritten(before);
    return false;
  }

  // After a lost reply, a change may be retried only if its operation would still be in the head had it been written.
  #checkUnwritten(before: SessionRow | undefined): void {
    if (!remembersSince(this.#head, before))
      throw new OffstageError(
        "store-connection",
        `The connection to ${this.context.rows.name} was lost during a write to session "${this.id}", and too many other writes followed to tell whether it was stored. Read the session before you try again.`,
      );
  }

  #accept(change: Change<unknown>, head: SessionRow | undefined, number?: number): void {
    const { appended, isRewrite, isGone, isActive, onNumber, writes } = change;
    for (const write of writes)
      if (write.table === "contents" && "row" in write && this.contents.size < mostContents)
        this.contents.add(String(write.row.hash));
    const hasOtherMessages = head !== undefined && head.message_count !== this.#head?.message_count;
    if (isRewrite || (hasOtherMessages && appended === undefined)) this.#tail = undefined;
    if (isGone) {
      this.traces.clear();
      this.contents.clear();
      this.#head = undefined;
    } else if (head !== undefined) this.#head = isActive && number !== undefined ? { ...head, activity: number } : head;
    if (number !== undefined) onNumber?.(number);
    if (appended !== undefined && this.#tail !== undefined) this.#tail = extendTail(this.#tail, appended);
  }

  // If another writer changed the head, the cached messages are stale.
  #learn(found: SessionRow | undefined): void {
    if (found?.version === this.#head?.version) return;
    this.#tail = undefined;
    this.#head = found;
    // It may have been deleted and created again.
    this.contents.clear();
    this.traces.clear();
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
  return {
    context,
    of(sessionId) {
      checkId(sessionId, "session id");
      const cell = cells.get(sessionId) ?? new SessionCell(context, sessionId);
      cells.delete(sessionId);
      cells.set(sessionId, cell);
      if (cells.size > mostIdle) forgetIdle(cells, cell);
      return cell;
    },
  };
}

// A map keeps insertion order, so the least recently used cells come first.
function forgetIdle(cells: Map<string, SessionCell>, current: SessionCell): void {
  for (const [id, cell] of cells) {
    if (cells.size <= mostIdle) return;
    if (cell !== current && cell.isIdle) cells.delete(id);
  }
}

/** Throws `invalid-argument` unless the value can be an id: text of 1 to 512 bytes, well-formed and without NUL. */
export function checkId(id: unknown, what: string): asserts id is string {
  if (typeof id === "string" && id !== "" && isStorable(id) && Buffer.byteLength(id) <= longestId) return;
  const found = typeof id === "string" && id.length > 80 ? `text of ${Buffer.byteLength(id)} bytes` : shownValue(id);
  throw new OffstageError(
    "invalid-argument",
    `A ${what} must be text of 1 to ${longestId} bytes, without NUL and lone surrogates; found ${found}.`,
  );
}
