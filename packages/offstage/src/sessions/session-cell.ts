// One session as this process knows it, and the one way to change it: compare-and-swap on its head.
import { setTimeout as sleep } from "node:timers/promises";
import { shownValue } from "../base/options.ts";
import { OffstageError } from "../errors.ts";
import type { Message } from "../messages/message.ts";
import { type Fifo, fifo } from "./fifo.ts";
import { encode, keptMessage } from "./message-rows.ts";
import type { Sending } from "./opened-driver.ts";
import { packMessage } from "./packed-message.ts";
import type { MessageRedactor } from "./redaction.ts";
import { numberKey } from "./row-keys.ts";
import { SessionConflictError } from "./session-errors.ts";
import {
  formatHead,
  hasOperation,
  newHead,
  parseHead,
  remembersSince,
  type SessionHead,
  withOperation,
} from "./session-head.ts";
import { noSighting, type Sighting } from "./sighting.ts";
import type { StoreContext } from "./store-context.ts";
import type { Check, Commit, Refused, Row, Write, WriteLabel } from "./store-driver.ts";
import { extendTail, type StoredMessage, type Tail } from "./tail.ts";

/** A change of a session. */
export interface Change<T> {
  readonly result: T;
  readonly writes: readonly Write[];
  /** The head after the change; left out if the head stays the same. */
  readonly head?: SessionHead;
  /** Messages to append to the conversation. */
  readonly appended?: readonly StoredMessage[];
  /** The conversation changes other than by appending. */
  readonly isRewrite?: boolean;
  /** The session is removed, including its head. */
  readonly isGone?: boolean;
  readonly checks?: readonly Check[];
  /** Called with the current rows of `checks` if one of them failed; throws to stop retrying. */
  readonly onRefused?: (rows: readonly (Row | undefined)[]) => void;
}

/** Computes a change from the current head; throws to refuse it. */
export type Changing<T> = (head: SessionHead) => Promise<Change<T>>;

/** The mark of a waiting run, as this process knows it; see lease.ts. */
export interface WaitingMark {
  /** The row text, if the mark is ours or has expired. */
  text: string | undefined;
  /** When the mark was last checked, by `performance.now()`. */
  lookedAt: number;
  /** For how long the mark of another process has been the same. */
  readonly sighting: Sighting;
}

/** A change that was requested. */
interface Task<T> extends Sending {
  readonly label: WriteLabel;
  readonly changing: Changing<T>;
  readonly operation: string;
}

/** The result of a change; undefined if another writer was faster and the change must be tried again. */
type Attempt<T> = { readonly result: T } | undefined;
type RefusedRows = NonNullable<Refused>;

const mostAttempts = 200;
const never = Number.NEGATIVE_INFINITY;

export class SessionCell {
  readonly id: string;
  readonly context: StoreContext;
  readonly lists: { readonly head: string; readonly messages: string; readonly runs: string; readonly steps: string };
  /** Tool traces of finished runs, by run number. */
  readonly traces: Map<number, readonly Message[]> = new Map();
  /** Runs of this process on the session, one at a time. */
  readonly gate: Fifo = fifo();
  /** The mark of a run that has waited long. */
  readonly mark: WaitingMark = { text: undefined, lookedAt: never, sighting: noSighting() };
  /** For how long the lease of another process has not been renewed. */
  readonly sighting: Sighting = noSighting();
  #row: string | undefined;
  #head: SessionHead | undefined;
  #isKnown = false;
  #tail: Tail | undefined;
  #latest: Promise<void> = Promise.resolve();
  #pending = 0;

  constructor(context: StoreContext, id: string) {
    const { lists } = context;
    this.context = context;
    this.id = id;
    this.lists = { head: lists.head(id), messages: lists.messages(id), runs: lists.runs(id), steps: lists.steps(id) };
  }

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
  async head(): Promise<SessionHead | undefined> {
    const [row] = await this.context.driver.get([this.#headPlace()]);
    return row === undefined ? undefined : this.#parse(row);
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
      if (attempt > 4) await sleep(Math.random() * Math.min(attempt, 50));
      if (!this.#isKnown) await this.#load();
      const done = await this.#attempt(task);
      if (done !== undefined) return done.result;
    }
    throw new SessionConflictError(
      `Session "${this.id}" could not be changed because other writers kept changing it; nothing was written. Try again.`,
    );
  }

  // Head and row do not change meanwhile, because changes are applied one at a time.
  async #attempt<T>(task: Task<T>): Promise<Attempt<T>> {
    const change = await task.changing(this.#head ?? newHead(this.id, Date.now()));
    const head = change.head && withOperation(change.head, task.operation);
    const row = head && formatHead(head);
    const refused = await this.#commit(task, change, row);
    if (refused === undefined) this.#accept(change, head, row);
    else if (!this.#hasArrived(task, refused, head !== undefined)) {
      task.isRepeated = false;
      change.onRefused?.(refused.slice(1));
      return undefined;
    }
    return { result: change.result };
  }

  async #commit<T>(task: Task<T>, change: Change<T>, row: string | undefined): Promise<Refused> {
    try {
      return await this.context.driver.commit(this.#commitOf(task.label, change, row), task);
    } catch (error) {
      // The outcome may be unknown: reread the head.
      this.forget();
      throw error;
    }
  }

  // True if a refused change had already been written, by a commit whose reply was lost.
  #hasArrived({ operation, isRepeated }: Task<unknown>, refused: RefusedRows, hasHead: boolean): boolean {
    const before = this.#head;
    if (hasOperation(this.#learn(refused[0]), operation)) return true;
    // A change without a head is idempotent: it puts the same rows again.
    if (isRepeated && hasHead) this.#checkUnwritten(before);
    return false;
  }

  // After a lost reply, a change may be retried only if its operation would still be in the head had it been written.
  #checkUnwritten(before: SessionHead | undefined): void {
    if (!remembersSince(this.#head, before))
      throw new OffstageError(
        "store-connection",
        `The connection to ${this.context.driver.name} was lost during a write to session "${this.id}", and too many other writes followed to tell whether it was stored. Read the session before you try again.`,
      );
  }

  #commitOf<T>(label: WriteLabel, change: Change<T>, row: string | undefined): Commit {
    const { head: list, messages } = this.lists;
    const { appended = [] } = change;
    const first = this.#head?.next ?? 0;
    const writes = [
      ...change.writes,
      ...(row === undefined ? [] : [{ list, key: "head", value: row }]),
      ...appended.map(({ text }, index) => ({ list: messages, key: numberKey(first + index), value: text })),
    ];
    return { label, checks: [{ list, key: "head", value: this.#row }, ...(change.checks ?? [])], writes };
  }

  #accept(
    { appended, isRewrite, isGone }: Change<unknown>,
    head: SessionHead | undefined,
    row: string | undefined,
  ): void {
    if (isRewrite) this.#tail = undefined;
    if (isGone) this.traces.clear();
    if (head !== undefined || isGone) {
      this.#head = head;
      this.#row = row;
    }
    if (appended !== undefined && this.#tail !== undefined) this.#tail = extendTail(this.#tail, appended);
  }

  async #load(): Promise<void> {
    const [row] = await this.context.driver.get([this.#headPlace()]);
    this.#learn(row);
    this.#isKnown = true;
  }

  // If another writer changed the head, the cached messages are stale.
  #learn(row: Row | undefined): SessionHead | undefined {
    if (row?.value !== this.#row) {
      this.#tail = undefined;
      this.#head = row === undefined ? undefined : this.#parse(row);
      this.#row = row?.value;
    }
    return this.#head;
  }

  #parse(row: Row): SessionHead {
    const head = parseHead(row.damaged ? "" : row.value, `session "${this.id}" in ${this.context.driver.name}`);
    if (head.id !== this.id)
      throw new SessionConflictError(`Session ids "${this.id}" and "${head.id}" have the same key. Use another id.`);
    return head;
  }

  #headPlace(): { readonly list: string; readonly key: string } {
    return { list: this.lists.head, key: "head" };
  }
}

/** Prepares the messages of a run for storing: redacted, copied and encoded. */
export function storedMessages(redact: MessageRedactor | undefined, messages: readonly Message[]): StoredMessage[] {
  return messages.map((given) => {
    const message = keptMessage(redact === undefined ? given : redact(given));
    return { message, text: encode(packMessage(message)) };
  });
}

const mostIdle = 64;

/** The cells of a store. An id has one cell for as long as work on it is in progress. */
export interface SessionCells {
  readonly context: StoreContext;
  of(sessionId: string): SessionCell;
}

export function sessionCells(context: StoreContext): SessionCells {
  const cells = new Map<string, SessionCell>();
  return {
    context,
    of(sessionId) {
      checkSessionId(sessionId);
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
    if (cell.isIdle && cell !== current) cells.delete(id);
  }
}

/** Throws `invalid-argument` unless the id is non-empty text. */
export function checkSessionId(id: unknown): asserts id is string {
  if (typeof id !== "string" || id === "") throw noSessionId(id);
}

function noSessionId(id: unknown): OffstageError {
  const message = `A session id must be text of at least one character; found ${shownValue(id)}.`;
  return new OffstageError("invalid-argument", message);
}
