// Prune: removes sessions that are old or too many, each whole and in one write. Sessions a run holds are left alone.

import { checkOptions, type OptionRule, wholeFrom } from "../base/options.ts";
import { isOffstageError, OffstageError } from "../errors.ts";
import type { SessionCells } from "./session-cells.ts";
import type { SessionHead } from "./session-head.ts";
import { deleteSession, isInPlace, listHeads } from "./session-list.ts";

export interface PruneOptions {
  /** Removes sessions without activity since this date, or for this many milliseconds; those with runs that wait too. */
  readonly olderThan?: Date | number | undefined;
  /** The most recently active sessions that stay whatever their age. */
  readonly keepLast?: number | undefined;
}

export interface PruneReport {
  readonly removedSessions: number;
  /** Sessions that were to go but are held by a run. */
  readonly busySessions: number;
}

// A moment in epoch milliseconds, taken for an age, would be one of more than thirty years.
const longestAge = 1e12;

const pruneRules: Readonly<Record<keyof PruneOptions, OptionRule>> = {
  olderThan: {
    isFit: (value) =>
      value instanceof Date
        ? !Number.isNaN(value.getTime())
        : typeof value === "number" && value >= 0 && value < longestAge,
    words: "a Date, or an age in milliseconds (for a moment pass new Date(…))",
  },
  keepLast: wholeFrom(0),
};

/** Removes what both options agree may go; with `keepLast` alone, everything but the latest. */
export async function prune(cells: SessionCells, options: PruneOptions): Promise<PruneReport> {
  checkOptions(options, pruneRules, "prune()");
  const { keepLast = 0 } = options;
  const cutoff = cutoffOf(options);
  const listed = (await listHeads(cells)).slice(keepLast);
  // One that moved while the list was read is in use.
  const heads = listed.filter(isInPlace).map(({ head }) => head);
  const outcomes = { removed: 0, busy: 0, active: 0 };
  for (const head of heads) if (isOlder(head, cutoff)) outcomes[await remove(cells, head)]++;
  return { removedSessions: outcomes.removed, busySessions: outcomes.busy };
}

function cutoffOf({ olderThan, keepLast }: PruneOptions): number {
  if (olderThan === undefined) {
    if (keepLast !== undefined) return Number.POSITIVE_INFINITY;
    throw new OffstageError("invalid-argument", 'prune() needs "olderThan", "keepLast" or both.');
  }
  return typeof olderThan === "number" ? Date.now() - olderThan : olderThan.getTime();
}

function isOlder({ active }: SessionHead, cutoff: number): boolean {
  return Math.trunc(active / 1000) < cutoff;
}

// Somebody may come back to a session after it was listed: then it is not an old one any more.
async function remove(cells: SessionCells, { id, active }: SessionHead): Promise<"removed" | "busy" | "active"> {
  try {
    return (await deleteSession(cells.of(id), { active })) ? "removed" : "active";
  } catch (error) {
    if (isOffstageError(error, "session-busy")) return "busy";
    throw error;
  }
}
