// Removes old sessions, each completely and in one write. Sessions in use by a run stay.

import { checkOptions, type OptionRule, wholeFrom } from "../base/options.ts";
import { isOffstageError, OffstageError } from "../errors.ts";
import type { SessionCells } from "./session-cell.ts";
import type { SessionHead } from "./session-head.ts";
import { deleteSession, isInPlace, listHeads } from "./session-list.ts";

export interface PruneOptions {
  /** Removes sessions that were not active since this date, or for this many milliseconds, even if a run waits for approval. */
  readonly olderThan?: Date | number | undefined;
  /** The number of most recently active sessions to keep whatever their age. */
  readonly keepLast?: number | undefined;
}

export interface PruneReport {
  readonly removedSessions: number;
  /** Sessions that were old enough to be removed but are in use by a run. */
  readonly busySessions: number;
}

// An age beyond this, about thirty years, is a timestamp passed by mistake.
const longestAge = 1e12;

const pruneRules: Readonly<Record<keyof PruneOptions, OptionRule>> = {
  olderThan: {
    isFit: (value) =>
      value instanceof Date
        ? !Number.isNaN(value.getTime())
        : typeof value === "number" && value >= 0 && value < longestAge,
    words: "a Date, or an age in milliseconds (for a point in time, pass new Date(…))",
  },
  keepLast: wholeFrom(0),
};

/** Removes sessions that both options allow to remove; with `keepLast` alone, all but the latest. */
export async function prune(cells: SessionCells, options: PruneOptions): Promise<PruneReport> {
  checkOptions(options, pruneRules, "prune()");
  const { keepLast = 0 } = options;
  const cutoff = cutoffOf(options);
  const listed = (await listHeads(cells)).slice(keepLast);
  // A session that moved while the list was read is active.
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

// A session that became active after it was listed is kept.
async function remove(cells: SessionCells, { id, active }: SessionHead): Promise<"removed" | "busy" | "active"> {
  try {
    return (await deleteSession(cells.of(id), { active })) ? "removed" : "active";
  } catch (error) {
    if (isOffstageError(error, "session-busy")) return "busy";
    throw error;
  }
}
