// Lists the sessions of a store by last activity, and deletes a session with everything that belongs to it.
import { checkOptions, type OptionRule, wholeFrom } from "../base/options.ts";
import { activityKey } from "./activity.ts";
import { someCursor } from "./cursor.ts";
import { checkFree } from "./lease.ts";
import { checkLimit } from "./limit.ts";
import { decode } from "./message-rows.ts";
import { behindNumber, idKey } from "./row-keys.ts";
import { readRunRows, runsInTrace } from "./run-reader.ts";
import { type RunPlace, type RunRow, traceKey, tracesOf } from "./run-rows.ts";
import type { SessionCell, SessionCells } from "./session-cell.ts";
import { parseHead, type SessionHead } from "./session-head.ts";
import { otherForm } from "./shape.ts";
import { loosePlace } from "./span-rows.ts";
import type { StoreContext } from "./store-context.ts";
import type { Row, Write } from "./store-driver.ts";

/** A session as lists show it. */
export interface SessionInfo {
  readonly sessionId: string;
  readonly messageCount: number;
  readonly runCount: number;
  /** ISO 8601. */
  readonly createdAt: string;
  /** ISO 8601. */
  readonly lastActivityAt: string;
  /** The start of the next page: `list({ before: cursor })`. */
  readonly cursor: string;
}

export interface ListSessionsOptions {
  /** The maximum number of sessions. Default: all. */
  readonly limit?: number | undefined;
  /** The `cursor` of the last session of the previous page. */
  readonly before?: string | undefined;
}

const listRules: Readonly<Record<keyof ListSessionsOptions, OptionRule>> = {
  limit: wholeFrom(0),
  before: someCursor,
};

/** Lists sessions, most recently active first. */
export async function listSessions(cells: SessionCells, options: ListSessionsOptions = {}): Promise<SessionInfo[]> {
  checkOptions(options, listRules, "sessions.list()");
  await cells.context.driver.ready();
  const listed = await readList(cells, options, isListedHere);
  return listed.map(({ head, cursor }) => infoOf(head, cursor));
}

/** The rows of the list with the heads of their sessions, stale rows included, so that a session may appear twice. */
export function listHeads(cells: SessionCells, options: ListSessionsOptions = {}): Promise<readonly ListedHead[]> {
  return readList(cells, options, () => true);
}

async function readList(
  { context }: SessionCells,
  options: ListSessionsOptions,
  isShown: typeof isListedHere,
): Promise<readonly ListedHead[]> {
  const limit = checkLimit(options.limit) ?? Number.POSITIVE_INFINITY;
  const found: ListedHead[] = [];
  let { before } = options;
  let newest: string | undefined;
  while (found.length < limit) {
    const size = limit - found.length;
    const page = await readPage(context, size, before);
    newest ??= page.first;
    for (const each of page.sessions) if (isShown(each, options, newest)) found.push(each);
    if (page.last === undefined) break;
    before = page.last;
  }
  return found;
}

interface Listed {
  readonly id: string;
  readonly cursor: string;
}

export interface ListedHead {
  readonly head: SessionHead;
  readonly cursor: string;
}

/** True if the session has not moved in the list since its row was read. */
export function isInPlace({ head, cursor }: ListedHead): boolean {
  return activityKey(head) === cursor;
}

// A session that expired and was created again may have left a stale row, which is skipped. A session that became active while
// the list was read has moved in front of it, so it is shown at its old position.
function isListedHere(listed: ListedHead, { before }: ListSessionsOptions, newest: string | undefined): boolean {
  return isInPlace(listed) || (before === undefined && newest !== undefined && activityKey(listed.head) > newest);
}

interface SessionPage {
  readonly sessions: readonly ListedHead[];
  readonly first: string | undefined;
  /** The last key of a full page; undefined if there are no more pages. */
  readonly last: string | undefined;
}

async function readPage(context: StoreContext, size: number, before: string | undefined): Promise<SessionPage> {
  const limit = Number.isFinite(size) ? { limit: size } : {};
  const range = { reverse: true, ...limit, ...(before === undefined ? {} : { before }) };
  const rows = await context.driver.read(context.lists.activity, range);
  const listed = rows.flatMap((row) => {
    const name = `"${row.key}" of the list of sessions in ${context.driver.name}`;
    const id = decode({ row, name }, context.report, (value) => listedId(value, row.key));
    return id === undefined ? [] : [{ id, cursor: row.key }];
  });
  const heads = await context.driver.get(listed.map(({ id }) => ({ list: context.lists.head(id), key: "head" })));
  const sessions = listed.flatMap((each, index) => readHead(context, heads[index], each) ?? []);
  return { sessions, first: rows[0]?.key, last: rows.length === size ? rows.at(-1)?.key : undefined };
}

// The key contains the id too, behind the time; the two must match.
function listedId(value: unknown, key: string): string {
  if (typeof value !== "string" || behindNumber(key) !== idKey(value)) throw otherForm();
  return value;
}

// A session whose head expired or cannot be read is skipped.
function readHead(context: StoreContext, row: Row | undefined, { id, cursor }: Listed): ListedHead | undefined {
  if (row === undefined) return undefined;
  try {
    return { head: parseHead(row.damaged ? "" : row.value, `session "${id}" in ${context.driver.name}`), cursor };
  } catch (error) {
    context.report(error as Parameters<StoreContext["report"]>[0]);
    return undefined;
  }
}

function infoOf(head: SessionHead, cursor: string): SessionInfo {
  return {
    sessionId: head.id,
    messageCount: head.count,
    runCount: head.runs,
    createdAt: new Date(head.created).toISOString(),
    lastActivityAt: new Date(head.active / 1000).toISOString(),
    cursor,
  };
}

/** One session; undefined if it was never written. */
export async function getSession(cell: SessionCell): Promise<SessionInfo | undefined> {
  const head = await cell.head();
  return head && infoOf(head, activityKey(head));
}

export interface DeleteOptions {
  /** The last activity that the caller knows of. A session that was active since then is not deleted. */
  readonly active?: number;
}

/** Removes a session with its conversation, runs and spans; true if there was one. Rejects if a run holds the session. */
export function deleteSession(
  cell: SessionCell,
  { active = Number.POSITIVE_INFINITY }: DeleteOptions = {},
): Promise<boolean> {
  return cell.update("session.delete", async (head) => {
    if (head.active > active) return { result: false, writes: [] };
    checkFree(cell, head);
    const removed = head.active === 0 ? [] : await everythingOf(cell, head);
    return { result: removed.length > 0, writes: removed, isRewrite: true, isGone: true };
  });
}

async function everythingOf(cell: SessionCell, head: SessionHead): Promise<Write[]> {
  const { lists } = cell.context;
  const runs = await readRunRows(cell);
  const traces = new Set(runs.flatMap(tracesOf));
  const fromTraces = await Promise.all(Array.from(traces, (traceId) => leaveTrace(cell, traceId)));
  return [
    ...ownLists(cell, runs).map((list) => ({ list })),
    ...fromTraces.flat(),
    { list: lists.activity, key: activityKey(head) },
  ];
}

// A trace that has runs of other sessions keeps their spans, and the spans that belong to no run.
async function leaveTrace(cell: SessionCell, traceId: string): Promise<Write[]> {
  const list = cell.context.lists.trace(traceId);
  const places = await runsInTrace(cell.context, traceId);
  const own = places.filter((place) => place?.[0] === cell.id) as RunPlace[];
  if (own.length === places.length) return [{ list }, loosePlace(cell.context, traceId)];
  // A run can be found in a trace by two rows; see `runsInTrace`.
  const keys = new Set(own.map(([, n]) => traceKey(cell.id, n)));
  return Array.from(keys, (key) => ({ list, key }));
}

function ownLists(cell: SessionCell, runs: readonly RunRow[]): string[] {
  return [...Object.values(cell.lists), ...runs.map(({ runId }) => cell.context.lists.run(runId))];
}

/** All lists that contain rows of a session. */
export async function listsOf(cell: SessionCell): Promise<string[]> {
  const runs = await readRunRows(cell);
  return [...ownLists(cell, runs), ...Array.from(new Set(runs.flatMap(tracesOf)), cell.context.lists.trace)];
}
