// Removes sessions, each completely and in one write: one by its id, or all old ones. Sessions in use by a run stay.
import { checkOptions, type OptionRule, wholeFrom } from "../../base/options.ts";
import { isOffstageError, OffstageError } from "../../errors.ts";
import { exists, type SessionCell, type SessionCells } from "../head/session-cell.ts";
import { checkFree } from "../lease/lease.ts";
import type { Write } from "../ports/store-driver.ts";
import type { SessionRow } from "../ports/tables.ts";
import { listHeads } from "./session-list.ts";

/** The tables with rows of sessions. */
export const sessionTables = [
  "messages",
  "runs",
  "steps",
  "tool_calls",
  "spans",
  "contents",
  "inbox",
  "annotations",
] as const;

/**
 * Removes a session with its conversation, runs and spans; true if there was one. One that was active after `activity` is not removed.
 * Rejects if a run holds the session.
 */
export function deleteSession(cell: SessionCell, activity: number = Number.POSITIVE_INFINITY): Promise<boolean> {
  return cell.update("session.delete", async (change) => {
    const { head, writes } = change;
    if (!exists(head) || head.activity > activity) return false;
    checkFree(cell, head);
    writes.push(...(await everythingOf(cell)));
    change.isGone = true;
    return true;
  });
}

async function everythingOf(cell: SessionCell): Promise<Write[]> {
  return [
    { table: "sessions", remove: [cell.id] },
    ...sessionTables.map((table): Write => ({ table, remove: [cell.id] })),
    ...(await looseSpansOf(cell)),
  ];
}

// Spans of the session's traces that belong to no run go with it, unless another session has spans in the same trace.
async function looseSpansOf(cell: SessionCell): Promise<Write[]> {
  const { rows: access } = cell.context;
  const own = await access.readRaw("spans", { prefix: [cell.id] });
  const traceIds = [...new Set(own.map(({ trace_id }) => String(trace_id)))];
  const traces = await Promise.all(
    traceIds.map((traceId) => access.readRaw("spans", { order: "trace", prefix: [traceId] })),
  );
  return traces.flatMap((spans) => {
    const isShared = spans.some(({ session_id }) => session_id !== "" && session_id !== cell.id);
    const loose = isShared ? [] : spans.filter(({ session_id }) => session_id === "");
    return loose.map(
      ({ run_id, start_ms, span_id }): Write => ({
        table: "spans",
        remove: ["", String(run_id), Number(start_ms), String(span_id)],
      }),
    );
  });
}

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
    const isRemoved = await deleteSession(cells.of(head.session_id), head.activity);
    return isRemoved ? "removed" : "active";
  } catch (error) {
    if (isOffstageError(error, "session-busy")) return "busy";
    throw error;
  }
}
