// Leases: one run at a time on a session. A queue orders the runs of this process; the lease in the head excludes other processes.
import { setTimeout as sleep } from "node:timers/promises";
import { parseJson } from "../base/json.ts";
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
import { type Sighting, watch } from "./sighting.ts";
import type { Check, Row, RowPlace, Write } from "./store-driver.ts";

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

/** How long a run waits before it leaves its mark, and how often it renews the mark. */
export const patienceMs = 1_000;
/** How often a process checks for the mark of another. */
const lookMs = 500;
// A mark that is not renewed is ignored after this time.
const lifeMs = 5_000;

/** Checks and writes to add to the change that acquires a session, so that the run that left a mark goes first. */
export interface Precedence {
  readonly checks: readonly Check[];
  readonly writes: readonly Write[];
}

/**
 * Checks that no other process left a mark, at most every half second, and removes our own mark. Undefined if there is nothing
 * to check.
 */
export function precedence(cell: SessionCell): Precedence | undefined {
  const { mark } = cell;
  const now = performance.now();
  return mark.text === undefined && now - mark.lookedAt < lookMs ? undefined : precedenceNow(cell, now);
}

function precedenceNow(cell: SessionCell, now: number): Precedence {
  const { mark } = cell;
  mark.lookedAt = now;
  const place = placeOf(cell);
  return { checks: [{ ...place, value: mark.text }], writes: mark.text === undefined ? [] : [place] };
}

/** Notes the mark that was found; true if another process goes first. */
export function noteMark(cell: SessionCell, row: Row | undefined): boolean {
  const { mark, context } = cell;
  const isOther = row !== undefined && !isOurs(row.value, context.holder) && !isVoid(row.value, mark.sighting);
  mark.text = isOther || row?.damaged ? undefined : row?.value;
  if (isOther) mark.lookedAt = Number.NEGATIVE_INFINITY;
  return isOther;
}

/** Leaves or renews our mark, unless another process left one first. */
export async function leaveMark(cell: SessionCell): Promise<void> {
  const { driver, holder } = cell.context;
  const place = placeOf(cell);
  const [row] = await driver.get([place]);
  if (noteMark(cell, row)) return;
  const text = JSON.stringify([holder, Date.now()]);
  const checks = [{ ...place, value: row?.value }];
  const refused = await driver.commit({ label: "lease.wait", checks, writes: [{ ...place, value: text }] });
  if (refused === undefined) cell.mark.text = text;
}

/** Removes our mark when the run stops waiting. Never rejects. */
export async function removeMark(cell: SessionCell): Promise<void> {
  const { mark, context } = cell;
  const { text } = mark;
  if (text === undefined || !isOurs(text, context.holder)) return;
  mark.text = undefined;
  const place = placeOf(cell);
  const commit = { label: "lease.wait" as const, checks: [{ ...place, value: text }], writes: [place] };
  try {
    await context.driver.commit(commit);
  } catch {
    // The mark expires on its own.
  }
}

function placeOf(cell: SessionCell): RowPlace {
  return { list: cell.lists.head, key: "waiting" };
}

function isOurs(text: string, holder: string): boolean {
  return text.startsWith(`[${JSON.stringify(holder)},`);
}

// Marks are renewed every second, so a mark that stays the same belongs to a process that is gone, whatever the clocks say.
function isVoid(text: string, sighting: Sighting): boolean {
  const mark = parseJson(text);
  const [holder, seen] = Array.isArray(mark) ? (mark as readonly unknown[]) : [];
  if (typeof holder !== "string" || typeof seen !== "number") return true;
  return watch(sighting, text) > lifeMs || whereIs(holder) === "gone";
}
