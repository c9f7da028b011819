// Removes old sessions, each completely and in one write. Sessions in use by a run stay.
import { checkOptions, type OptionRule, wholeFrom } from "../../base/options.ts";
import { isOffstageError, OffstageError } from "../../errors.ts";
import type { SessionCells } from "../head/session-cell.ts";
import type { SessionRow } from "../ports/tables.ts";
import { deleteSession, listHeads } from "./session-list.ts";

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
  const heads = (await listHeads(cells)).slice(keepLast).filter((head) => Date.parse(head.updated_at) < cutoff);
  const outcomes = { removed: 0, busy: 0, active: 0 };
  for (const head of heads) outcomes[await remove(cells, head)]++;
  return { removedSessions: outcomes.removed, busySessions: outcomes.busy };
}

function cutoffOf({ olderThan, keepLast }: PruneOptions): number {
  if (olderThan === undefined) {
    if (keepLast !== undefined) return Number.POSITIVE_INFINITY;
    throw new OffstageError("invalid-argument", 'prune() needs "olderThan", "keepLast" or both.');
  }
  return typeof olderThan === "number" ? Date.now() - olderThan : olderThan.getTime();
}

// A session that became active after it was listed is kept.
async function remove(cells: SessionCells, head: SessionRow): Promise<"removed" | "busy" | "active"> {
  try {
    const isRemoved = await deleteSession(cells.of(head.session_id), { activity: head.activity });
    return isRemoved ? "removed" : "active";
  } catch (error) {
    if (isOffstageError(error, "session-busy")) return "busy";
    throw error;
  }
}
