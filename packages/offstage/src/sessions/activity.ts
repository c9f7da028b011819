// Activity: sessions in the order of their last change. One row each, moved when the session changes.
import type { Mutable } from "../base/mutable.ts";
import { idKey, numberKey } from "./row-keys.ts";
import type { SessionCell } from "./session-cell.ts";
import type { SessionHead } from "./session-head.ts";
import type { Write } from "./store-driver.ts";

/** How far, in microseconds, the order of sessions in different processes may be off. */
export const activitySlack = 1_000_000;

/**
 * The head changed now, and the writes that move its row. Where this process touched no other session in between, the
 * row stays for up to a second: the order within the process is exact all the same.
 */
export function touched(
  cell: SessionCell,
  head: SessionHead,
  changes: Partial<Pick<SessionHead, "next" | "count" | "nextRun" | "runs" | "lease">>,
): { head: SessionHead; writes: Write[] } {
  const { context } = cell;
  // Another machine's clock may be ahead of ours: what happens later is later all the same.
  const active = Math.max(head.active + 1, context.stamp());
  const changed: Mutable<SessionHead> = { ...head };
  // One by one: a second spread would take several times as long.
  changed.active = active;
  changed.next = changes.next ?? head.next;
  changed.count = changes.count ?? head.count;
  changed.nextRun = changes.nextRun ?? head.nextRun;
  changed.runs = changes.runs ?? head.runs;
  if ("lease" in changes) changed.lease = changes.lease;
  if (context.recent.sessionId === cell.id && active - head.listed < activitySlack)
    return { head: changed, writes: [] };
  context.recent.sessionId = cell.id;
  changed.listed = active;
  const list = context.lists.activity;
  const writes: Write[] = [{ list, key: activityKey(changed), value: JSON.stringify(cell.id) }];
  if (head.listed > 0) writes.push({ list, key: activityKey(head) });
  return { head: changed, writes };
}

export function activityKey({ id, listed }: SessionHead): string {
  return `${numberKey(listed)}.${idKey(id)}`;
}
