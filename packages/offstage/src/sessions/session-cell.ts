// Session cell: one session as this process knows it, and the one way to change it: compare-and-swap on its head.
import { setTimeout as sleep } from "node:timers/promises";
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

/** What a change of a session amounts to. */
export interface Change<T> {
  readonly result: T;
  readonly writes: readonly Write[];
  /** The head after it; left out where the head stays as it is. */
  readonly head?: SessionHead;
  /** Messages that join the conversation; their rows are made from their texts. */
  readonly appended?: readonly StoredMessage[];
  /** The conversation changes in another way than by appending. */
  readonly isRewrite?: boolean;
  /** The session is removed, its head with it. */
  readonly isGone?: boolean;
  readonly checks?: readonly Check[];
  /** Called with the rows of `checks` where one of them failed; throws to give up. */
  readonly onRefused?: (rows: readonly (Row | undefined)[]) => void;
}

/** A change as a function of the current head; throws to refuse. */
export type Changing<T> = (head: SessionHead) => Promise<Change<T>>;

/** What this process knows of the mark of one who waits; see waiting-mark.ts. */
export interface WaitingMark {
  /** The row, where it is ours or means nothing any more. */
  text: string | undefined;
  /** When it was last looked at, by `performance.now()`. */
  lookedAt: number;
  /** The mark of another, as long as it is the same. */
  readonly sighting: Sighting;
}

/** A change that was asked for. */
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
const none: readonly never[] = [];

export class SessionCell {
  readonly id: string;
  readonly context: StoreContext;
  readonly lists: { readonly head: string; readonly messages: string; readonly runs: string; readonly steps: string };
  /** Tool traces of finished runs, by number of the run. */
  readonly traces: Map<number, readonly Message[]> = new Map();
  /** Runs of this process on the session, one at a time. */
  readonly gate: Fifo = fifo();
  /** Whoever has waited for the session for long. */
  readonly mark: WaitingMark = { text: undefined, lookedAt: never, sighting: noSighting() };
  /** The sign of life of a holder in another process. */
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

  /** Nothing is under way, so the cell may be forgotten. */
  get isIdle(): boolean {
    return this.#pending === 0 && !this.gate.isHeld;
  }

  /** The latest messages as last seen here, if they are known to be current for the given head. */
  get tail(): Tail | undefined {
    return this.#tail;
  }

  /** Keeps what was read under the head that a change was given. */
  keepTail(tail: Tail): void {
    this.#tail = tail;
  }

  /** The head as it is in the store now; undefined where the session was never written. */
  async head(): Promise<SessionHead | undefined> {
    const [row] = await this.context.driver.get([this.#headPlace()]);
    return row === undefined ? undefined : this.#parse(row);
  }

  /** The next change reads the head afresh. */
  forget(): void {
    this.#isKnown = false;
    this.#tail = undefined;
  }

  /** Applies a change exactly once, after those asked for before it. A store that closes waits for it. */
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
    throw new SessionConflictError(`Session "${this.id}" is changed by others all the time; nothing was written.`);
  }

  // Nothing else changes head and row meanwhile: changes are applied one after another.
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
      // It may have been written all the same.
      this.forget();
      throw error;
    }
  }

  // Whether a change that was refused had been written before, by a commit whose reply was lost.
  #hasArrived({ operation, isRepeated }: Task<unknown>, refused: RefusedRows, hasHead: boolean): boolean {
    const before = this.#head;
    if (hasOperation(this.#learn(refused[0]), operation)) return true;
    // A change without a head puts the same rows again.
    if (isRepeated && hasHead) this.#checkUnwritten(before);
    return false;
  }

  // After a lost reply: a change may be tried again only where its operation would be found if it had been written.
  #checkUnwritten(before: SessionHead | undefined): void {
    if (!remembersSince(this.#head, before))
      throw new OffstageError(
        "store-connection",
        `The connection to ${this.context.driver.name} was lost while session "${this.id}" was written to, and so many others have written to it since that nobody can tell whether the change arrived. Read the session before you ask for it again.`,
      );
  }

  #commitOf<T>(label: WriteLabel, change: Change<T>, row: string | undefined): Commit {
    const { head: list, messages } = this.lists;
    const { appended = none } = change;
    const writes = change.writes.slice();
    if (row !== undefined) writes.push({ list, key: "head", value: row });
    let position = this.#head?.next ?? 0;
    for (let i = 0; i < appended.length; i++)
      writes.push({ list: messages, key: numberKey(position++), value: (appended[i] as StoredMessage).text });
    const head = { list, key: "head", value: this.#row };
    return { label, checks: change.checks === undefined ? [head] : [head, ...change.checks], writes };
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

  // Another writer's head makes what we remember of the conversation worthless.
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
    if (head.id !== this.id) throw new SessionConflictError(`Two session ids share one key: "${head.id}".`);
    return head;
  }

  #headPlace(): { readonly list: string; readonly key: string } {
    return { list: this.lists.head, key: "head" };
  }
}

/** The messages of a run as they will be stored: redacted copies. */
export function storedMessages(redact: MessageRedactor | undefined, messages: readonly Message[]): StoredMessage[] {
  return messages.map((given) => {
    const message = keptMessage(redact === undefined ? given : redact(given));
    return { message, text: encode(packMessage(message)) };
  });
}
