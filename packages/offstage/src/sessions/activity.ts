// Activity: sessions in the order of their last change. One row each, moved with every change of the conversation.
import { idKey, numberKey } from "./row-keys.ts";
import type { SessionCell } from "./session-cell.ts";
import type { SessionHead } from "./session-head.ts";
import type { Write } from "./store-driver.ts";

/** What the list of sessions shows of one. */
export interface ActivityRow {
  readonly id: string;
  readonly created: number;
  readonly count: number;
  readonly runs: number;
}

/** The head changed now, and the writes that move its row in the list of sessions. */
export function touched(
  cell: SessionCell,
  head: SessionHead,
  changes: Partial<SessionHead>,
): { head: SessionHead; writes: Write[] } {
  const next = { ...head, ...changes, active: cell.context.stamp() };
  const list = cell.context.lists.activity;
  const { id, created, count, runs } = next;
  const row: ActivityRow = { id, created, count, runs };
  const writes: Write[] = [{ list, key: activityKey(next), value: JSON.stringify(row) }];
  if (head.active > 0) writes.push({ list, key: activityKey(head) });
  return { head: next, writes };
}

export function activityKey(head: SessionHead): string {
  return `${numberKey(head.active)}.${idKey(head.id)}`;
}
