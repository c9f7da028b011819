// Leases: one run at a time on a session. First in this process by a queue, then among processes by the head's lease.
import { setTimeout as sleep } from "node:timers/promises";
import { busy, enterSession } from "./held-session.ts";
import type { Hold } from "./hold.ts";
import { isAbandoned } from "./holder.ts";
import type { RunStart } from "./journal.ts";
import type { Change, SessionCell } from "./session-cell.ts";
import { SessionBusyError, SessionConflictError } from "./session-errors.ts";
import type { SessionHead } from "./session-head.ts";
import { leaveMark, noteMark, type Precedence, patienceMs, precedence, removeMark } from "./waiting-mark.ts";

const firstPollMs = 2;
const longestPollMs = 100;

/** The head with the lease given to a run; throws `SessionBusyError` where somebody else holds it. */
export function leased(cell: SessionCell, head: SessionHead, runId: string): SessionHead {
  const { holder } = cell.context;
  const { lease } = head;
  const now = Date.now();
  if (lease !== undefined && lease.holder !== holder && !isAbandoned(lease, now)) throw busy(cell.id, lease.runId);
  const fence = head.fence + 1;
  return { ...head, fence, lease: { fence, runId, holder, seen: now } };
}

/** The change that takes the session, where nobody in another process has waited for it for long; with `onBusy: "reject"` nobody is asked. */
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

/** Throws `SessionBusyError` where a run holds the session, in this process or another. */
export function checkFree(cell: SessionCell, head: SessionHead): void {
  const { lease } = head;
  const isOurs = lease?.holder === cell.context.holder;
  if (lease !== undefined && (isOurs ? cell.gate.isHeld : !isAbandoned(lease, Date.now())))
    throw busy(cell.id, lease.runId);
}

/** Throws `SessionConflictError` unless the lease is still the one with this fence. */
export function checkHeld(cell: SessionCell, head: SessionHead, fence: number): void {
  if (head.lease?.fence !== fence) throw takenOver(cell);
}

function takenOver({ id }: SessionCell): SessionConflictError {
  return new SessionConflictError(`Session "${id}" was taken over by another run; this write was refused.`);
}

/** The lease of a run as long as it has it. */
export interface LeaseHold extends Hold {
  /** It is given up already, by the run's own last write. */
  stop(): void;
}

/** Keeps the lease of this fence until it is released; `leave` then lets the next run of this process in. */
export function holdLease(cell: SessionCell, fence: number, leave: () => void): LeaseHold {
  const { holds } = cell.context;
  const stop = (): void => {
    holds.remove(hold);
    leave();
  };
  const hold = {
    stop,
    renew: () => cell.update("lease.renew", (head) => renewed(cell, head, fence)),
    release: async () => {
      await cell.update("run.abandon", (head) => released(head, fence)).catch(() => {});
      stop();
    },
  };
  holds.add(hold);
  return hold;
}

function renewed(cell: SessionCell, head: SessionHead, fence: number): Change<void> {
  checkHeld(cell, head, fence);
  const { lease } = head;
  return { result: undefined, writes: [], ...(lease && { head: { ...head, lease: { ...lease, seen: Date.now() } } }) };
}

function released(head: SessionHead, fence: number): Change<void> {
  if (head.lease?.fence !== fence) return { result: undefined, writes: [] };
  return { result: undefined, writes: [], head: { ...head, lease: undefined } };
}

/** What came of work on a session, and the function that lets the next run of this process in. */
interface Held<T> {
  readonly result: T;
  readonly leave: () => void;
}

/**
 * Does the work when the session is free: after the runs of this process that asked before, and when no other process
 * holds it. Done at once where nothing has to be waited for.
 */
export function whenFree<T extends object>(
  cell: SessionCell,
  start: Waiting,
  work: () => T | Promise<T>,
): Held<T> | Promise<Held<T>> {
  const entering = enterSession(cell.gate, cell.id, start);
  if ("then" in entering) return entering.then((leave) => whenOurs(cell, start, { work, leave }));
  return whenOurs(cell, start, { work, leave: entering });
}

type Waiting = Pick<RunStart, "onBusy" | "signal">;

interface Working<T> {
  readonly work: () => T | Promise<T>;
  readonly leave: () => void;
}

// The place in this process is ours; another process may still have the session.
function whenOurs<T extends object>(
  cell: SessionCell,
  start: Waiting,
  { work, leave }: Working<T>,
): Held<T> | Promise<Held<T>> {
  const first = begun(work);
  if ("then" in first) return whenDone(cell, leave, untilFree(cell, start, { work, first }));
  cell.mark.text = undefined;
  return { result: first, leave };
}

function begun<T>(work: () => T | Promise<T>): T | Promise<T> {
  try {
    return work();
  } catch (error) {
    return Promise.reject(error);
  }
}

async function whenDone<T>(cell: SessionCell, leave: () => void, working: Promise<T>): Promise<Held<T>> {
  try {
    const result = await working;
    cell.mark.text = undefined;
    return { result, leave };
  } catch (error) {
    await removeMark(cell);
    leave();
    throw error;
  }
}

interface Begun<T> {
  readonly work: () => T | Promise<T>;
  /** The first time it was tried. */
  readonly first: Promise<T>;
}

async function untilFree<T>(cell: SessionCell, { onBusy, signal }: Waiting, { work, first }: Begun<T>): Promise<T> {
  let markAt = Date.now() + patienceMs;
  let working: Promise<T> | undefined = first;
  for (let pollMs = firstPollMs; ; pollMs = Math.min(pollMs * 1.5, longestPollMs)) {
    signal?.throwIfAborted();
    if (Date.now() >= markAt) {
      await leaveMark(cell);
      markAt = Date.now() + patienceMs;
    }
    try {
      return await (working ?? work());
    } catch (error) {
      if (!(error instanceof SessionBusyError) || error.isOwn || onBusy === "reject") throw error;
    }
    working = undefined;
    await sleep(pollMs * (0.5 + Math.random()), undefined, signal && { signal }).catch(() => signal?.throwIfAborted());
    cell.forget();
  }
}
