// The mark of a run that has waited for long: other processes let it in before they take the session again. Leases are in lease.ts.

import { parseJson } from "../base/json.ts";
import { whereIs } from "./holder.ts";
import type { SessionCell } from "./session-cell.ts";
import { type Sighting, watch } from "./sighting.ts";
import type { Check, Row, RowPlace, Write } from "./store-driver.ts";

/** How long a run waits for another process before it leaves its mark, and how often it renews it. */
export const patienceMs = 1_000;
/** How often the runs of a process look for the mark of another. */
const lookMs = 500;
// The mark of somebody who gave up is not respected for longer than this from when it is seen first.
const lifeMs = 5_000;

/** What taking a session has to check and to write so that one who has waited for long goes first. */
export interface Precedence {
  readonly checks: readonly Check[];
  readonly writes: readonly Write[];
}

/**
 * What taking the session has to check, at most every half second: that nobody left a mark; and to write: that our own is
 * removed. Undefined where there is nothing to check.
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

/** Takes note of the mark as it was found; true where somebody else is to go first. */
export function noteMark(cell: SessionCell, row: Row | undefined): boolean {
  const { mark, context } = cell;
  const isOther = row !== undefined && !isOurs(row.value, context.holder) && !isVoid(row.value, mark.sighting);
  mark.text = isOther || row?.damaged ? undefined : row?.value;
  if (isOther) mark.lookedAt = Number.NEGATIVE_INFINITY;
  return isOther;
}

/** Leaves or renews our mark, unless somebody else was faster. */
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

/** Removes our mark, where the run no longer waits. Never rejects. */
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
    // It is void after a while.
  }
}

function placeOf(cell: SessionCell): RowPlace {
  return { list: cell.lists.head, key: "waiting" };
}

function isOurs(text: string, holder: string): boolean {
  return text.startsWith(`[${JSON.stringify(holder)},`);
}

// A mark is renewed every second: one that stays the same is of somebody who is gone, whatever the clocks say.
function isVoid(text: string, sighting: Sighting): boolean {
  const mark = parseJson(text);
  const [holder, seen] = Array.isArray(mark) ? (mark as readonly unknown[]) : [];
  if (typeof holder !== "string" || typeof seen !== "number") return true;
  return watch(sighting, text) > lifeMs || whereIs(holder) === "gone";
}
