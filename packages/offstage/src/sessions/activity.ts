// The list of sessions by last activity: one row for each session, moved when the session changes.
import { idKey, numberKey } from "./row-keys.ts";
import type { SessionCell } from "./session-cell.ts";
import type { SessionHead } from "./session-head.ts";
import type { Write } from "./store-driver.ts";

/** By how many microseconds the order of sessions of different processes may be off. */
export const activitySlack = 1_000_000;

/**
 * Updates the head with the time of the change, and returns the writes that move its row. If no other session of this process
 * changed in between, the row stays in place for up to a second, which does not affect the order within the process.
 */
export function touched(
  cell: SessionCell,
  head: SessionHead,
  changes: Partial<Pick<SessionHead, "next" | "count" | "nextRun" | "runs" | "lease">>,
): { head: SessionHead; writes: Write[] } {
  const { context } = cell;
  // Activity never goes backwards, even if the clock of another machine is ahead of ours.
  const active = Math.max(head.active + 1, context.stamp());
  const changed = { ...head, ...changes, active };
  if (context.recent.sessionId === cell.id && active - head.listed < activitySlack)
    return { head: changed, writes: [] };
  context.recent.sessionId = cell.id;
  const moved = { ...changed, listed: active };
  const list = context.lists.activity;
  const writes: Write[] = [{ list, key: activityKey(moved), value: JSON.stringify(cell.id) }];
  if (head.listed > 0) writes.push({ list, key: activityKey(head) });
  return { head: moved, writes };
}

export function activityKey({ id, listed }: SessionHead): string {
  return `${numberKey(listed)}.${idKey(id)}`;
}
