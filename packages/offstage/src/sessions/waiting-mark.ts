// Fairness between processes: a run that has waited long leaves a mark, and other processes let it go first. Leases are in lease.ts.
import { parseJson } from "../base/json.ts";
import { whereIs } from "./holder.ts";
import type { SessionCell } from "./session-cell.ts";
import { type Sighting, watch } from "./sighting.ts";
import type { Check, Row, RowPlace, Write } from "./store-driver.ts";

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
