// Leases: one run at a time on a session. A queue orders the runs of this process; the lease in the head excludes other processes.
import { setTimeout as sleep } from "node:timers/promises";

import type { OffstageError } from "../errors.ts";
import { busy, enterSession } from "./held-session.ts";
import type { Hold } from "./hold.ts";
import { isAbandoned, silentMs, whereIs } from "./holder.ts";
import type { RunStart } from "./journal.ts";
import { closedError } from "./opened-driver.ts";
import type { RunRow } from "./run-rows.ts";
import type { Change, SessionCell } from "./session-cell.ts";
import { SessionBusyError, SessionConflictError } from "./session-errors.ts";
import type { Lease, SessionHead } from "./session-head.ts";
import { watch } from "./sighting.ts";
import { leaveMark, noteMark, type Precedence, patienceMs, precedence, removeMark } from "./waiting-mark.ts";

const firstPollMs = 2;
const longestPollMs = 100;

/** Gives the lease to a run. Throws `SessionBusyError` if another process holds it, or `store-closed`. */
export function leased(
  cell: SessionCell,
  head: SessionHead,
  { runId, onBusy }: Pick<RunStart, "runId" | "onBusy">,
): SessionHead {
  const { holder, holds } = cell.context;
  if (holds.isClosed) throw closedError(cell.context.driver.name);
  const { lease } = head;
  const isOthers = lease !== undefined && lease.holder !== holder;
  if (isOthers && !isLeft(cell, lease, { canWait: onBusy === "queue" })) throw busy(cell.id, lease.runId);
  const fence = head.fence + 1;
  return { ...head, fence, lease: { fence, runId, holder, seen: Date.now() } };
}

// A waiting run watches the lease, because clocks differ between machines. A run that cannot wait has to trust the clocks.
function isLeft(cell: SessionCell, lease: Lease, { canWait }: { readonly canWait: boolean }): boolean {
  const where = whereIs(lease.holder);
  if (where === "gone") return true;
  const watchedMs = watch(cell.sighting, `${lease.fence} ${lease.seen}`);
  return watchedMs > silentMs[where] || (!canWait && isAbandoned(lease, Date.now()));
}

/** Makes `change` yield to a process that has been waiting longer; with `onBusy: "reject"` it never yields. */
export function inOrder<T>(cell: SessionCell, onBusy: RunStart["onBusy"], change: Change<T>): Change<T> {
  const before = onBusy === "reject" ? undefined : precedence(cell);
  return before === undefined ? change : behind(cell, before, change);
}

function behind<T>(cell: SessionCell, { checks, writes }: Precedence, change: Change<T>): Change<T> {
  return {
    ...change,
    checks: [...checks, ...(change.checks ?? [])],
    writes: [...change.writes, ...writes],
    onRefused: ([mark, ...rows]) => {
      change.onRefused?.(rows);
      if (noteMark(cell, mark)) throw busy(cell.id);
    },
  };
}

/** Throws `SessionBusyError` if a run holds the session, in this process or another. */
export function checkFree(cell: SessionCell, head: SessionHead): void {
  const { lease } = head;
  const isOurs = lease?.holder === cell.context.holder;
  if (lease !== undefined && (isOurs ? cell.gate.isHeld : !isLeft(cell, lease, { canWait: false })))
    throw new SessionBusyError(`Session "${cell.id}" is in use by run "${lease.runId}". Wait for it to end.`);
}

/** The claim of a run to its session. */
export interface Tenure {
  readonly fence: number;
  readonly row: Pick<RunRow, "runId" | "rootRunId">;
}

/** Throws `SessionConflictError` unless this run still holds the lease; `store-closed` if it lost the lease because the store was closed. */
export function checkHeld(cell: SessionCell, head: SessionHead, tenure: Tenure): void {
  if (!isHeldBy(head, tenure)) throw notHeld(cell);
}

// Compares the run too: fences start over when a session is deleted and created again.
function isHeldBy({ lease }: SessionHead, { fence, row }: Tenure): boolean {
  return lease?.fence === fence && lease.runId === (row.rootRunId ?? row.runId);
}

function notHeld({ id, context }: SessionCell): OffstageError {
  if (context.holds.isClosed) return closedError(context.driver.name);
  return new SessionConflictError(`Session "${id}" was taken over by another run; nothing was written.`);
}

/** The lease that a run holds. */
export interface LeaseHold extends Hold {
  /** Stops renewing: the last write of the run has released the lease. */
  stop(): void;
}

/** Renews the lease until it is released; `leave` then admits the next run of this process. */
export function holdLease(cell: SessionCell, tenure: Tenure, leave: () => void): LeaseHold {
  const { holds } = cell.context;
  const stop = (): void => {
    holds.remove(hold);
    leave();
  };
  const hold = {
    stop,
    renew: () => cell.update("lease.renew", async (head) => renewed(cell, head, tenure)),
    release: async () => {
      await cell.update("run.abandon", async (head) => released(head, tenure)).catch(() => {});
      stop();
    },
  };
  holds.add(hold);
  return hold;
}

function renewed(cell: SessionCell, head: SessionHead, tenure: Tenure): Change<void> {
  checkHeld(cell, head, tenure);
  const { lease } = head;
  return { result: undefined, writes: [], ...(lease && { head: { ...head, lease: { ...lease, seen: Date.now() } } }) };
}

/**
 * Releases the lease of a run whose first write had an unknown outcome, so that the next run need not wait for it. Never
 * rejects.
 */
export async function letGo(cell: SessionCell, runId: string): Promise<void> {
  const isOrphan = ({ lease }: SessionHead) => lease?.runId === runId && lease.holder === cell.context.holder;
  const letting = cell.update("run.abandon", async (head) =>
    isOrphan(head)
      ? { result: undefined, writes: [], head: { ...head, lease: undefined } }
      : { result: undefined, writes: [] },
  );
  await letting.catch(() => {});
}

function released(head: SessionHead, tenure: Tenure): Change<void> {
  if (!isHeldBy(head, tenure)) return { result: undefined, writes: [] };
  return { result: undefined, writes: [], head: { ...head, lease: undefined } };
}

/** The result of work on a session, and `leave()`, which admits the next run of this process. */
export interface Admitted<T> {
  readonly result: T;
  readonly leave: () => void;
}

/**
 * Calls `work` once the session is free: after the runs of this process that asked before, and when no other process holds
 * it. Takes the place in the queue of this process before it returns.
 */
export async function whenFree<T>(cell: SessionCell, start: Waiting, work: () => Promise<T>): Promise<Admitted<T>> {
  const leave = await enterSession(cell.gate, cell.id, start);
  try {
    const result = await untilFree(cell, start, work);
    cell.mark.text = undefined;
    return { result, leave };
  } catch (error) {
    await removeMark(cell);
    leave();
    throw error;
  }
}

type Waiting = Pick<RunStart, "onBusy" | "signal">;

// The place in the queue of this process is ours; another process may still hold the lease.
async function untilFree<T>(cell: SessionCell, { onBusy, signal }: Waiting, work: () => Promise<T>): Promise<T> {
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
      await leaveMark(cell);
      markAt = performance.now() + patienceMs;
    }
  }
}
