// One session as this process knows it, and the one way to change it: compare-and-swap on its head, the session's row in the table
// "sessions". Every change of a session changes its head, and names itself there.
import { setTimeout as sleep } from "node:timers/promises";
import { deepFreeze } from "../../base/json.ts";
import { OffstageError } from "../../errors.ts";
import type { Message } from "../../messages/message.ts";
import { SessionConflictError } from "../ports/session.ts";
import type { Committed, Write, WriteLabel } from "../ports/store-driver.ts";
import type { SessionRow } from "../ports/tables.ts";
import type { Content, Hasher, RowRef } from "../rows/message-row.ts";
import type { MessageRedactor } from "../rows/redaction.ts";
import type { Sending } from "./connection.ts";
import { type Fifo, fifo } from "./fifo.ts";
import type { StoreWriter } from "./hold.ts";
import { checkId, type NamespaceRows, type Report } from "./namespace-rows.ts";

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
  /** The contents of model setups that were stored. */
  readonly setups: WeakMap<object, Content>;
}

/** A change of a session that is being computed. Whoever computes it assigns and adds. */
export interface Change {
  /** The current head. A new one is assigned if more than its version changes. */
  head: SessionRow;
  /** Rows beside the head. */
  readonly writes: Write[];
  /** The conversation changes, so the session moves to the front of the list of sessions. */
  isActive?: boolean;
  /** The messages that are appended to the conversation, if that is all that happens to it. */
  appended?: readonly Message[];
  /** The session is removed, including its head. */
  isGone?: boolean;
  /** Called when the change is stored, with the number that the store issued; undefined if it issued none, or the reply was lost. */
  readonly onStored: ((number: number | undefined) => void)[];
}

/** Computes a change from the current head, possibly more than once; throws to refuse it. Without rows and a new head nothing is written. */
export type MakeChange<T> = (change: Change) => Promise<T>;

const mostAttempts = 200;
const mostContents = 1_000;
const mostUnsaid = 100;

/** A range of positions in the conversation. */
interface Positions {
  readonly from: number;
  /** Exclusive. */
  readonly before: number;
}

// Positions are not reused, so those without a message are those of removed messages.
function removedCount({ next_position, message_count }: SessionRow): number {
  return next_position - message_count;
}

export class SessionCell {
  readonly id: string;
  readonly namespace: string;
  readonly context: StoreContext;
  /** Tool traces of finished runs, by run id. */
  readonly traces: Map<string, readonly Message[]> = new Map();
  /** Hashes of contents that the session is known to have. */
  readonly contents: Set<string> = new Set();
  /** The rows of the messages that this process has read or written. */
  refs: WeakMap<Message, RowRef> = new WeakMap();
  /** Runs of this process on the session, one at a time. */
  readonly gate: Fifo = fifo();
  /** For how long the lease of another process has not been renewed. */
  readonly leaseWatch: Watch = { value: "", since: 0 };
  /** For how long the mark of another process that waits has not been renewed. */
  readonly waitingWatch: Watch = { value: "", since: 0 };
  /** Called with each new head, written or read by this process, that asks a run to stop. They must not throw. */
  readonly stopWatchers: Set<(head: SessionRow) => void> = new Set();
  /** The head as this process knows it: as of its last write, or newer. */
  knownHead: SessionRow | undefined;
  /** The latest messages, if they are known under the current head. */
  tail: Tail | undefined;
  /** Positions that were removed from the conversation, oldest first. Messages that are still held may refer to them. */
  #unsaid: Positions[] = [];
  #isKnown = false;
  #latest: Promise<void> = Promise.resolve();
  #pending = 0;
  /** Identifies this cell in operation ids. */
  #writer: string | undefined;
  #operations = 0;

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
    return this.#pending === 0 && this.gate.current === undefined;
  }

  /** The row of a message that a model input may refer to; undefined if it is unknown or no longer part of the conversation. */
  inputRef(message: Message): RowRef | undefined {
    const ref = this.refs.get(message);
    const position = ref?.position ?? undefined;
    const isUnsaid =
      position !== undefined && this.#unsaid.some((each) => each.from <= position && position < each.before);
    return isUnsaid ? undefined : ref;
  }

  /** Notes that the messages at these positions were removed. Messages are removed from the end, so the ranges stay few. */
  unsay(removed: Positions): void {
    const earlier = this.#unsaid.filter(({ from }) => from < removed.from);
    this.#unsaid = earlier.length < mostUnsaid ? [...earlier, removed] : [{ from: 0, before: removed.before }];
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
    const { expected } = this.context.writer;
    const work = this.#latest.then(() => this.#apply(label, make));
    const settle = (): void => {
      this.#pending--;
      expected.delete(work);
    };
    this.#pending++;
    expected.add(work);
    this.#latest = work.then(settle, settle);
    return work;
  }

  async #apply<T>(label: WriteLabel, make: MakeChange<T>): Promise<T> {
    this.#writer ??= crypto.randomUUID().slice(0, writerLength);
    const operation = `${this.#writer}${(++this.#operations).toString(36)}`;
    const sending = { isRepeated: false };
    for (let attempt = 0; attempt <= mostAttempts; attempt++) {
      if (attempt > 4) {
        await sleep(Math.random() * Math.min(attempt, 50));
        // Read again: the head may have changed many times meanwhile.
        this.forget();
      }
      if (!this.#isKnown) this.#learn(await this.head());
      this.#isKnown = true;
      const before = this.knownHead;
      const change: Change = { head: before ?? newHead(this.namespace, this.id), writes: [], onStored: [] };
      const current = change.head;
      const result = await make(change);
      const isWritten = change.head !== current || (change.writes.length > 0 && !change.isGone);
      if (isWritten) change.head = withOperation(change.head, operation);
      const committed = await this.#commit(label, change, { isWritten, sending });
      if (committed.refused === undefined) {
        this.#accept(change, isWritten, committed.number);
        return result;
      }
      // Another writer was faster, or the reply of a commit was lost and the change is written.
      const found = committed.refused[0] as SessionRow | undefined;
      this.#learn(found);
      if (hasOperation(found, operation) || (sending.isRepeated && change.isGone && found === undefined)) {
        for (const each of change.onStored) each(undefined);
        return result;
      }
      // It may be retried only if its operation would still be in the head had it been written.
      if (sending.isRepeated && !remembersSince(found, before)) throw this.#unknownOutcome();
      sending.isRepeated = false;
    }
    throw new SessionConflictError(
      `Session "${this.id}" could not be changed because other writers kept changing it; nothing was written. Try again.`,
    );
  }

  async #commit(
    label: WriteLabel,
    { head, writes, isActive }: Change,
    { isWritten, sending }: { readonly isWritten: boolean; readonly sending: Sending },
  ): Promise<Committed> {
    const version = this.knownHead?.version;
    const where = version === undefined ? undefined : { version };
    const numbered = isActive ? "activity" : undefined;
    const all = isWritten ? [...writes, { table: "sessions", row: head, numbered } as const] : writes;
    try {
      const checks = [{ table: "sessions" as const, key: [this.id], where }];
      return await this.context.rows.commit({ label, checks, writes: all }, sending);
    } catch (error) {
      // The outcome may be unknown: reread the head.
      this.forget();
      throw error;
    }
  }

  #accept(change: Change, isWritten: boolean, number: number | undefined): void {
    const { head, appended, isGone, isActive, writes, onStored } = change;
    for (const write of writes)
      if (write.table === "contents" && "row" in write && this.contents.size < mostContents)
        this.contents.add(String(write.row.hash));
    const before = this.knownHead;
    if (appended !== undefined) this.tail &&= extendTail(this.tail, appended);
    else if (head.next_position !== before?.next_position || head.message_count !== before.message_count)
      this.tail = undefined;
    if (isGone) this.#replaceHead(undefined);
    else if (isWritten) this.knownHead = isActive && number !== undefined ? { ...head, activity: number } : head;
    this.#notify();
    for (const each of onStored) each(number);
  }

  // If another writer changed the head, what is known of the session is stale.
  #learn(found: SessionRow | undefined): void {
    if (found?.version === this.knownHead?.version) return;
    this.#replaceHead(found);
    this.#notify();
  }

  // The session may have been deleted and created again, and numbers its rows anew. Another writer may have removed messages.
  #replaceHead(found: SessionRow | undefined): void {
    const known = this.knownHead;
    if (known !== undefined && found?.created_at !== known.created_at) {
      this.refs = new WeakMap();
      this.#unsaid = [];
    } else if (known !== undefined && found !== undefined && removedCount(found) > removedCount(known))
      this.unsay({ from: 0, before: found.next_position });
    this.knownHead = found;
    this.tail = undefined;
    this.contents.clear();
    this.traces.clear();
  }

  #notify(): void {
    const { knownHead: head } = this;
    if (head !== undefined && head.stop_requested !== null) for (const watcher of this.stopWatchers) watcher(head);
  }

  #unknownOutcome(): OffstageError {
    return new OffstageError(
      "store-connection",
      `The connection to ${this.context.rows.name} was lost during a write to session "${this.id}", and too many other writes followed to tell whether it was stored. Read the session before you try again.`,
    );
  }
}

/** A value in the store, and when it was first seen by the local clock. The clocks of other machines do not matter. */
export interface Watch {
  value: string;
  since: number;
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
  const writer = operation.slice(0, writerLength);
  const others = head.version.split(" ").filter((each) => !each.startsWith(writer));
  return { ...head, version: [...others, operation].join(" ").slice(-versionLength) };
}

/** True if the operation is among the latest. */
function hasOperation(head: SessionRow | undefined, operation: string): boolean {
  return head?.version.split(" ").includes(operation) ?? false;
}

/**
 * True if every operation since `before` must still be in `now`: either none was ever dropped, or an older one is still there.
 * The oldest are dropped first. A full version stays full, because the operation ids of a writer never get shorter.
 */
function remembersSince(now: SessionRow | undefined, before: SessionRow | undefined): boolean {
  if (now === undefined || now.version.length < versionLength) return true;
  return before?.version.split(" ").some((operation) => operation !== "" && hasOperation(now, operation)) ?? false;
}
