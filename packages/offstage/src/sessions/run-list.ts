// Lists the runs of a store or a session, newest first, and reads one run by id.

import type { JsonValue } from "../base/json.ts";
import { shownValue, someText } from "../base/options.ts";
import { OffstageError } from "../errors.ts";
import { activitySlack } from "./activity.ts";
import { someCursor } from "./cursor.ts";
import { type FoundRun, foundRun } from "./found-run.ts";
import type { RunInfo, RunRecord } from "./journal.ts";
import { checkLimit } from "./limit.ts";
import { decode } from "./message-rows.ts";
import { keyNumber, numberKey, stepKeys } from "./row-keys.ts";
import { checkRunFilter, isWanted, type RunFilter } from "./run-filter.ts";
import { findRun, infoOf, readRun, readRunAt, readRunPage } from "./run-reader.ts";
import type { RunRow } from "./run-rows.ts";
import type { SessionCell, SessionCells } from "./session-cell.ts";
import { listHeads } from "./session-list.ts";

export interface ListRunsOptions extends RunFilter {
  /** Only runs of this session. Default: runs of all sessions. Subagents' runs are in `get(runId).children`. */
  readonly sessionId?: string | undefined;
  /** The `cursor` of the last run of the previous page. */
  readonly before?: string | undefined;
}

export interface ListedRun extends RunInfo {
  /** The start of the next page: `list({ before: cursor })`. */
  readonly cursor: string;
}

/** A search over the runs of one session. */
interface Search {
  readonly filter: RunFilter;
  readonly limit: number;
  /** Only runs that began before this time, in epoch microseconds. */
  readonly before: number;
}

const pageSize = 100;

/** Lists runs, newest first. */
export async function listRuns(cells: SessionCells, options: ListRunsOptions = {}): Promise<ListedRun[]> {
  checkRunFilter(options, { sessionId: someText, before: someCursor }, "runs.list()");
  const { sessionId } = options;
  const limit = checkLimit(options.limit) ?? Number.POSITIVE_INFINITY;
  const before = options.before === undefined ? Number.POSITIVE_INFINITY : keyNumber(options.before);
  const search = { filter: options, limit, before };
  if (limit === 0) {
    await cells.context.driver.ready();
    return [];
  }
  return sessionId === undefined ? searchStore(cells, search) : searchSession(cells.of(sessionId), search);
}

// Sessions are listed by last activity, and no run is newer than the last activity of its session. So the search can stop once
// it has found enough runs that are newer than the next session.
async function searchStore(cells: SessionCells, search: Search): Promise<ListedRun[]> {
  let found: ListedRun[] = [];
  let before: string | undefined;
  const searched = new Set<string>();
  for (;;) {
    const page = await listHeads(cells, { limit: pageSize, ...(before === undefined ? undefined : { before }) });
    for (const { head, cursor } of page) {
      if (isEnough(found, search.limit, keyNumber(cursor) + activitySlack)) return found;
      if (searched.has(head.id)) continue;
      searched.add(head.id);
      const runs = await searchSession(cells.of(head.id), search);
      found = [...found, ...runs].sort((a, b) => keyNumber(b.cursor) - keyNumber(a.cursor)).slice(0, search.limit);
    }
    if (page.length < pageSize) return found;
    before = page.at(-1)?.cursor;
  }
}

function isEnough(found: readonly ListedRun[], limit: number, youngest: number): boolean {
  const last = found[limit - 1];
  return last !== undefined && keyNumber(last.cursor) > youngest;
}

async function searchSession(cell: SessionCell, { filter, limit, before }: Search): Promise<ListedRun[]> {
  const found: ListedRun[] = [];
  let end: string | undefined;
  while (found.length < limit) {
    const page = { reverse: true, limit: pageSize, ...(end === undefined ? {} : { before: end }) };
    const { runs: rows, end: next } = await readRunPage(cell, page);
    const head = rows.some((row) => row.status === "running") ? await cell.head() : undefined;
    for (const row of rows) {
      const info = infoOf(cell, row, head);
      const isListed = row.parentRunId === undefined && row.stamp < before;
      if (isListed && isWanted(filter, info)) found.push({ ...info, cursor: cursorOf(row) });
    }
    if (next === undefined) break;
    end = next;
  }
  return found.slice(0, limit);
}

function cursorOf({ stamp, n }: RunRow): string {
  return `${numberKey(stamp)}.${n}`;
}

/** Everything recorded of a run, with the calls that wait for approval; undefined if there is no such run. */
export async function getRun(cells: SessionCells, runId: string): Promise<FoundRun | undefined> {
  const record = await readRecord(cells, runId);
  return record && foundRun(record, (id) => readRecord(cells, id));
}

/** Everything recorded of a run; undefined if there is no such run. */
export async function readRecord(cells: SessionCells, runId: string): Promise<RunRecord | undefined> {
  const place = await findRun(cells.context, runId);
  if (place === undefined) return undefined;
  const cell = cells.of(place[0]);
  const row = await readRunAt(cell, { n: place[1], runId });
  return row && readRun(cell, row);
}

/** The full value of a tool result that was clipped for the model. */
export async function getValue(cells: SessionCells, runId: string, toolCallId: string): Promise<JsonValue | undefined> {
  const { driver, report } = cells.context;
  if (!someText.isFit(toolCallId))
    throw new OffstageError("invalid-argument", `A tool call id must be text; found ${shownValue(toolCallId)}.`);
  const place = await findRun(cells.context, runId);
  if (place === undefined) return undefined;
  const list = cells.of(place[0]).lists.steps;
  const [row] = await driver.get([{ list, key: stepKeys.value(place[1], toolCallId) }]);
  const name = `the value of call "${toolCallId}" of run "${runId}" in ${driver.name}`;
  return row && decode({ row, name }, report, (value) => value as JsonValue);
}
