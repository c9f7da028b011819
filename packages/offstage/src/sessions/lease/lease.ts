// Leases: one run at a time on a session. A queue orders the runs of this process; the lease in the head excludes other processes. A run
// that would deadlock on a session that an enclosing run holds is refused.
import type { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { asyncScope } from "../../base/async-scope.ts";
import type { OffstageError } from "../../errors.ts";
import { closedError } from "../head/connection.ts";
import type { Fifo } from "../head/fifo.ts";
import { type Hold, isAbandoned, silentMs, unchangedMs, whereIs } from "../head/hold.ts";
import { exists, type SessionCell } from "../head/session-cell.ts";
import type { HeldSession, RunStart } from "../ports/journal.ts";
import { SessionBusyError, SessionConflictError } from "../ports/session.ts";
import type { RunRow, SessionRow } from "../ports/tables.ts";

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
  const { writer, holds, rows } = cell.context;
  const { holder } = writer;
  if (holds.isClosed) throw closedError(rows.name);
  const canWait = onBusy === "queue";
  if (head.lease_holder !== null && head.lease_holder !== holder && !isLeft(cell, head, { canWait }))
    throw busy(cell.id, head.lease_run ?? undefined);
  if (canWait && isOthersTurn(cell, head)) throw busy(cell.id);
  const fence = head.fence + 1;
  const mine = head.waiting_holder === holder || !isOthersTurn(cell, head) ? noWaiting : {};
  const lease = { lease_run: runId, lease_holder: holder, lease_seen: Date.now(), stop_requested: null };
  return { ...head, ...mine, ...lease, fence };
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
  if (holder !== null && (isOurs ? cell.gate.isHeld : !isLeft(cell, head, { canWait: false })))
    throw new SessionBusyError(`Session "${cell.id}" is in use by run "${lease_run}". Wait for it to end.`);
}

/** The claim of a run to its session. */
export interface Tenure {
  readonly fence: number;
  readonly row: Pick<RunRow, "run_id" | "root_run_id">;
}

/** Throws `SessionConflictError` unless this run still holds the lease; `store-closed` if it lost the lease because the store was closed. */
export function checkHeld(cell: SessionCell, head: SessionRow, tenure: Tenure): void {
  if (!isHeldBy(head, tenure)) throw notHeld(cell);
}

// Compares the run too: fences start over when a session is deleted and created again.
function isHeldBy({ fence, lease_run }: SessionRow, tenure: Tenure): boolean {
  return fence === tenure.fence && lease_run === (tenure.row.root_run_id ?? tenure.row.run_id);
}

function notHeld({ id, context }: SessionCell): OffstageError {
  if (context.holds.isClosed) return closedError(context.rows.name);
  return new SessionConflictError(`Session "${id}" was taken over by another run; nothing was written.`);
}

/** True if the run that holds the lease is asked to stop. */
export function isAskedToStop({ lease_run, stop_requested }: SessionRow): boolean {
  return stop_requested !== null && stop_requested === lease_run;
}

/** The head without a lease. */
export function releaseLease(head: SessionRow): SessionRow {
  return { ...head, ...noLease };
}

/** The lease that a run holds. */
export interface LeaseHold extends Hold {
  /** Stops renewing: the last write of the run has released the lease. */
  stop(): void;
}

/**
 * Renews the lease until it is released; `release` then admits the next run of this process. Calls `onStop` when another process, or
 * this one, asks the run to stop.
 */
export function holdLease(
  cell: SessionCell,
  tenure: Tenure,
  { release, onStop }: { readonly release: () => void; readonly onStop: () => void },
): LeaseHold {
  const { holds } = cell.context;
  const watcher = (head: SessionRow): void => {
    if (isHeldBy(head, tenure) && isAskedToStop(head)) onStop();
  };
  const stop = (): void => {
    cell.stopWatchers.delete(watcher);
    holds.remove(hold);
    release();
  };
  cell.stopWatchers.add(watcher);
  const hold = {
    stop,
    renew: () =>
      cell.update("lease.renew", async (head) => {
        checkHeld(cell, head, tenure);
        return { result: undefined, head: { ...head, lease_seen: Date.now() } };
      }),
    release: async () => {
      await releaseIf(cell, (head) => isHeldBy(head, tenure));
      stop();
    },
  };
  holds.add(hold);
  return hold;
}

/**
 * Releases the lease of a run whose first write had an unknown outcome, so that the next run need not wait for it. Never
 * rejects.
 */
export function releaseOrphan(cell: SessionCell, runId: string): Promise<void> {
  const { holder } = cell.context.writer;
  return releaseIf(cell, ({ lease_run, lease_holder }) => lease_run === runId && lease_holder === holder);
}

async function releaseIf(cell: SessionCell, isOurs: (head: SessionRow) => boolean): Promise<void> {
  const releasing = cell.update("run.abandon", async (head) =>
    isOurs(head) ? { result: undefined, head: releaseLease(head) } : { result: undefined },
  );
  await releasing.catch(() => {});
}

/** The result of work on a session, and `release()`, which admits the next run of this process. */
export interface Admitted<T> {
  readonly result: T;
  readonly release: () => void;
}

/**
 * Calls `work` once the session is free: after the runs of this process that asked before, and when no other process holds
 * it. Takes the place in the queue of this process before it returns.
 */
export async function whenFree<T>(cell: SessionCell, start: Waiting, work: () => Promise<T>): Promise<Admitted<T>> {
  const release = await enterSession(cell.gate, cell.id, start);
  const waiting = { isMarked: false };
  try {
    return { result: await untilFree(cell, start, { work, waiting }), release };
  } catch (error) {
    if (waiting.isMarked) await removeMark(cell);
    release();
    throw error;
  }
}

type Waiting = Pick<RunStart, "onBusy" | "signal">;

interface Attempts<T> {
  readonly work: () => Promise<T>;
  /** Whether this run has left its mark. */
  readonly waiting: { isMarked: boolean };
}

// The place in the queue of this process is ours; another process may still hold the lease.
async function untilFree<T>(
  cell: SessionCell,
  { onBusy, signal }: Waiting,
  { work, waiting }: Attempts<T>,
): Promise<T> {
  let markAt = performance.now() + patienceMs;
  for (let pollMs = firstPollMs; ; pollMs = Math.min(pollMs * 1.5, longestPollMs)) {
    try {
      // The turn may come at the moment of the abort.
      signal?.throwIfAborted();
      return await work();
    } catch (error) {
      if (!(error instanceof SessionBusyError) || error.isOwn || onBusy === "reject") throw error;
    }
    await sleep(pollMs * (0.5 + Math.random()), undefined, signal && { signal }).catch(() => signal?.throwIfAborted());
    cell.forget();
    if (performance.now() >= markAt) {
      waiting.isMarked = (await leaveMark(cell).catch(ignoreConflict)) || waiting.isMarked;
      markAt = performance.now() + patienceMs;
    }
  }
}

/** How long a run waits before it leaves its mark in the head, and how often it renews the mark. */
export const patienceMs = 1_000;
// A mark that is not renewed is ignored after this time.
const lifeMs = 5_000;

// Marks are renewed every second, so a mark that stays the same belongs to a process that is gone, whatever the clocks say.
function isOthersTurn(cell: SessionCell, { waiting_holder: holder, waiting_seen: seen }: SessionRow): boolean {
  if (holder === null || holder === cell.context.writer.holder) return false;
  return unchangedMs(cell.waitingWatch, `${holder} ${seen}`) <= lifeMs && whereIs(holder) !== "gone";
}

// The holder writes so often that the mark could not be left. It is tried again.
function ignoreConflict(error: unknown): false {
  if (error instanceof SessionConflictError) return false;
  throw error;
}

// Leaves or renews our mark, unless another process left one first; true if it is ours.
function leaveMark(cell: SessionCell): Promise<boolean> {
  const { holder } = cell.context.writer;
  return cell.update("lease.wait", async (head) => {
    if (!exists(head) || isOthersTurn(cell, head)) return { result: false };
    return { result: true, head: { ...head, waiting_holder: holder, waiting_seen: Date.now() } };
  });
}

// Removes our mark when the run stops waiting. Never rejects: the mark expires on its own.
async function removeMark(cell: SessionCell): Promise<void> {
  const { holder } = cell.context.writer;
  const removing = cell.update("lease.wait", async (head) =>
    head.waiting_holder === holder ? { result: undefined, head: { ...head, ...noWaiting } } : { result: undefined },
  );
  await removing.catch(() => {});
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
  if (gate.isHeld) {
    if (isEnclosing((held) => held.place === gate.current)) throw deadlock(sessionId);
    if (onBusy === "reject") throw busy(sessionId);
  }
  return gate.enter({ signal });
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
