// Leases: one run at a time on a session. A queue orders the runs of this process; the lease in the head excludes other processes. A run
// that would deadlock on a session that an enclosing run holds is refused.
import type { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { asyncScope } from "../../base/async-scope.ts";
import { closedError } from "../head/connection.ts";
import type { Fifo } from "../head/fifo.ts";
import { isAbandoned, silentMs, whereIs } from "../head/hold.ts";
import { exists, type SessionCell, type Watch } from "../head/session-cell.ts";
import type { HeldSession, RunStart } from "../ports/journal.ts";
import { SessionBusyError, SessionConflictError } from "../ports/session.ts";
import type { SessionRow } from "../ports/tables.ts";

const firstPollMs = 2;
const longestPollMs = 100;

const noLease = { lease_run: null, lease_holder: null, lease_seen: null, stop_requested: null } as const;
const noWaiting = { waiting_holder: null, waiting_seen: null } as const;

/**
 * The head with the lease given to a run. Throws `SessionBusyError` if another process holds it, or has been waiting for longer, and
 * `store-closed` if the store is closed. A run with `onBusy: "reject"` does not yield to those that wait.
 */
export function takeLease(
  cell: SessionCell,
  head: SessionRow,
  { runId, onBusy }: Pick<RunStart, "runId" | "onBusy">,
): SessionRow {
  const { writer, rows } = cell.context;
  const { holder } = writer;
  if (writer.isClosed) throw closedError(rows.name);
  const canWait = onBusy === "queue";
  if (head.lease_holder !== null && head.lease_holder !== holder && !isLeft(cell, head, { canWait }))
    throw busy(cell.id, head.lease_run ?? undefined);
  const isTheirTurn = isOthersTurn(cell, head);
  if (canWait && isTheirTurn) throw busy(cell.id);
  const lease = { lease_run: runId, lease_holder: holder, lease_seen: Date.now(), stop_requested: null };
  return { ...head, ...(isTheirTurn ? {} : noWaiting), ...lease, fence: head.fence + 1 };
}

// A waiting run watches the lease, because clocks differ between machines. A run that cannot wait has to trust the clocks.
function isLeft(cell: SessionCell, head: SessionRow, { canWait }: { readonly canWait: boolean }): boolean {
  const { lease_holder: holder, lease_seen: seen, fence } = head;
  if (holder === null) return true;
  const where = whereIs(holder);
  if (where === "gone") return true;
  const watchedMs = unchangedMs(cell.leaseWatch, `${fence} ${seen}`);
  return watchedMs > silentMs[where] || (!canWait && isAbandoned(holder, seen ?? 0));
}

/** Throws `SessionBusyError` if a run holds the session, in this process or another. */
export function checkFree(cell: SessionCell, head: SessionRow): void {
  const { lease_holder: holder, lease_run } = head;
  const isOurs = holder === cell.context.writer.holder;
  if (holder !== null && (isOurs ? cell.gate.current !== undefined : !isLeft(cell, head, { canWait: false })))
    throw new SessionBusyError(`Session "${cell.id}" is in use by run "${lease_run}". Wait for it to end.`);
}

/** True if the run that holds the lease is asked to stop. */
export function isAskedToStop({ lease_run, stop_requested }: SessionRow): boolean {
  return stop_requested !== null && stop_requested === lease_run;
}

/** The head without a lease. */
export function releaseLease(head: SessionRow): SessionRow {
  return { ...head, ...noLease };
}

/** The lease that a run and the runs of its subagents hold. It is renewed until it is released. */
export class Lease {
  /** Resolves when the run is asked to stop, by this process or another. */
  readonly stopRequested: Promise<void>;
  /** The outermost run. */
  readonly runId: string;
  readonly #cell: SessionCell;
  readonly #fence: number;
  readonly #admitNext: () => void;
  readonly #watcher: (head: SessionRow) => void;

  /** `admitNext` admits the next run of this process. */
  constructor(cell: SessionCell, { runId, fence }: { runId: string; fence: number }, admitNext: () => void) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#cell = cell;
    this.runId = runId;
    this.#fence = fence;
    this.#admitNext = admitNext;
    this.stopRequested = promise;
    this.#watcher = (head) => {
      if (this.#isHeld(head) && isAskedToStop(head)) resolve();
    };
    cell.stopWatchers.add(this.#watcher);
    cell.context.writer.add(this);
  }

  // Compares the run too: fences start over when a session is deleted and created again.
  #isHeld({ fence, lease_run }: SessionRow): boolean {
    return fence === this.#fence && lease_run === this.runId;
  }

  /** Throws `SessionConflictError` unless the lease is still held; `store-closed` if it was lost because the store was closed. */
  check(head: SessionRow): void {
    if (this.#isHeld(head)) return;
    const { id, context } = this.#cell;
    if (context.writer.isClosed) throw closedError(context.rows.name);
    throw new SessionConflictError(`Session "${id}" was taken over by another run; nothing was written.`);
  }

  renew(): Promise<void> {
    return this.#cell.update("lease.renew", async (change) => {
      this.check(change.head);
      change.head = { ...change.head, lease_seen: Date.now() };
    });
  }

  /** Releases the lease. Never rejects. */
  async release(): Promise<void> {
    await releaseIf(this.#cell, (head) => this.#isHeld(head));
    this.end();
  }

  /** Ends a lease that the last write of the run has released, and admits the next run. */
  end(): void {
    this.#cell.stopWatchers.delete(this.#watcher);
    this.#cell.context.writer.remove(this);
    this.#admitNext();
  }
}

/**
 * Releases the lease of a run whose first write had an unknown outcome, so that the next run need not wait for it. Never
 * rejects.
 */
export function releaseOrphan(cell: SessionCell, runId: string): Promise<void> {
  const { holder } = cell.context.writer;
  return releaseIf(cell, ({ lease_run, lease_holder }) => lease_run === runId && lease_holder === holder);
}

function releaseIf(cell: SessionCell, isOurs: (head: SessionRow) => boolean): Promise<void> {
  const releasing = cell.update("run.abandon", async (change) => {
    if (isOurs(change.head)) change.head = releaseLease(change.head);
  });
  return releasing.catch(() => {});
}

/**
 * Calls `work` once the session is free: after the runs of this process that asked before, and when no other process holds
 * it. Takes the place in the queue of this process before it returns. `work` gets the function that admits the next run of this
 * process; if it fails, that is done here.
 */
export async function whenFree<T>(
  cell: SessionCell,
  start: Pick<RunStart, "onBusy" | "signal">,
  work: (admitNext: () => void) => Promise<T>,
): Promise<T> {
  const { onBusy, signal } = start;
  const admitNext = await enterSession(cell.gate, cell.id, start);
  let isMarked = false;
  let markAt = performance.now() + patienceMs;
  try {
    for (let pollMs = firstPollMs; ; pollMs = Math.min(pollMs * 1.5, longestPollMs)) {
      try {
        // The turn may come at the moment of the abort.
        signal?.throwIfAborted();
        return await work(admitNext);
      } catch (error) {
        if (!(error instanceof SessionBusyError) || error.isOwn || onBusy === "reject") throw error;
      }
      const pauseMs = pollMs * (0.5 + Math.random());
      await sleep(pauseMs, undefined, signal && { signal }).catch(() => signal?.throwIfAborted());
      cell.forget();
      if (performance.now() < markAt) continue;
      isMarked = (await leaveMark(cell)) || isMarked;
      markAt = performance.now() + patienceMs;
    }
  } catch (error) {
    if (isMarked) await removeMark(cell);
    admitNext();
    throw error;
  }
}

/** How long a run waits before it leaves its mark in the head, and how often it renews the mark. */
const patienceMs = 1_000;
// A mark that is not renewed is ignored after this time.
const lifeMs = 5_000;

// Marks are renewed every second, so a mark that stays the same belongs to a process that is gone, whatever the clocks say.
function isOthersTurn(cell: SessionCell, { waiting_holder: holder, waiting_seen: seen }: SessionRow): boolean {
  if (holder === null || holder === cell.context.writer.holder) return false;
  return unchangedMs(cell.waitingWatch, `${holder} ${seen}`) <= lifeMs && whereIs(holder) !== "gone";
}

// Leaves or renews our mark, unless another process left one first; true if it is ours.
async function leaveMark(cell: SessionCell): Promise<boolean> {
  const { holder } = cell.context.writer;
  const leaving = cell.update("lease.wait", async (change) => {
    const { head } = change;
    if (!exists(head) || isOthersTurn(cell, head)) return false;
    change.head = { ...head, waiting_holder: holder, waiting_seen: Date.now() };
    return true;
  });
  return leaving.catch((error) => {
    // The holder writes so often that the mark could not be left. It is tried again.
    if (error instanceof SessionConflictError) return false;
    throw error;
  });
}

// Removes our mark when the run stops waiting. Never rejects: the mark expires on its own.
function removeMark(cell: SessionCell): Promise<void> {
  const removing = cell.update("lease.wait", async (change) => {
    if (change.head.waiting_holder === cell.context.writer.holder) change.head = { ...change.head, ...noWaiting };
  });
  return removing.catch(() => {});
}

// For how many milliseconds a value has been the same; 0 if it is new.
function unchangedMs(watch: Watch, value: string): number {
  const now = performance.now();
  if (watch.value !== value) Object.assign(watch, { value, since: now });
  return now - watch.since;
}

/**
 * The re-entrancy scope of the code that a run calls. It holds nothing else of the run, because async resources that outlive
 * the run, such as sockets, keep it alive.
 */
export interface ReentrancyScope {
  /** The run's session; undefined before the run opens it and after the run ends. */
  held: HeldSession | undefined;
  /** The scope of the run that started this one. */
  readonly outer: ReentrancyScope | undefined;
}

const scopes: AsyncLocalStorage<ReentrancyScope | undefined> = asyncScope("sessions.1");

/** Creates the scope of a new run, inside the current one. Skips outer runs that hold nothing: they may have ended long ago. */
export function createReentrancyScope(held?: HeldSession): ReentrancyScope {
  let outer = scopes.getStore();
  while (outer !== undefined && outer.held === undefined) outer = outer.outer;
  return { held, outer };
}

/** Runs `work` inside `scope`; without one, inside the current scope. */
export function enterReentrancyScope<T>(scope: ReentrancyScope | undefined, work: () => T): T {
  return scope === undefined ? work() : scopes.run(scope, work);
}

/** The error for a session that run `runId` holds, or some other run if that is undefined. */
export function busy(sessionId: string, runId?: string): SessionBusyError {
  if (runId !== undefined && isEnclosing((held) => held.runId === runId)) return deadlock(sessionId);
  const user = runId === undefined ? "another run" : `run "${runId}"`;
  return new SessionBusyError(
    `Session "${sessionId}" is in use by ${user}. Wait for it to end, or use onBusy: "queue".`,
  );
}

/**
 * Takes the place in the queue of a session, as `Fifo.enter` does. Rejects with `SessionBusyError` if an enclosing run holds the
 * session, or if any run does and `onBusy` is "reject".
 */
export async function enterSession(
  gate: Fifo,
  sessionId: string,
  { onBusy, signal }: Pick<RunStart, "onBusy" | "signal">,
): Promise<() => void> {
  if (gate.current !== undefined) {
    if (isEnclosing((held) => held.place === gate.current)) throw deadlock(sessionId);
    if (onBusy === "reject") throw busy(sessionId);
  }
  return gate.enter(signal);
}

function isEnclosing(isWanted: (held: HeldSession) => boolean): boolean {
  for (let scope = scopes.getStore(); scope !== undefined; scope = scope.outer)
    if (scope.held !== undefined && isWanted(scope.held)) return true;
  return false;
}

function deadlock(sessionId: string): SessionBusyError {
  const message = `Session "${sessionId}" is already in use by the enclosing run; waiting for it would deadlock. Make the agent a tool with agent.asTool(), or use another session.`;
  return new SessionBusyError(message, { isOwn: true });
}
