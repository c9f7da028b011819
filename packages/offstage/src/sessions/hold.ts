// Hold: keeps a session while a run lasts, by signs of life, and gives it up. Taking it is in lease.ts.
import { renewMs } from "./holder.ts";
import { checkHeld } from "./lease.ts";
import type { Change, SessionCell } from "./session-cell.ts";
import type { SessionHead } from "./session-head.ts";

export interface Hold {
  /** The lease is gone already; lets the next run of this process in. */
  stop(): void;
  /** Gives the lease up first. Never rejects. */
  abandon(): Promise<void>;
}

/** Renews the lease of this fence until it is stopped. */
export function holdLease(cell: SessionCell, fence: number, leave: () => void): Hold {
  const { holds } = cell.context;
  const renew = (): void => {
    cell.update("lease.renew", (head) => renewed(cell, head, fence)).catch(() => {});
  };
  const timer = setInterval(renew, renewMs).unref();
  const stop = (): void => {
    clearInterval(timer);
    holds.delete(abandon);
    leave();
  };
  const abandon = async (): Promise<void> => {
    await cell.update("run.abandon", (head) => released(head, fence)).catch(() => {});
    stop();
  };
  holds.add(abandon);
  return { stop, abandon };
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
