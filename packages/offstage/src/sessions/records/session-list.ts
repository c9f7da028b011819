// Lists the sessions of a store by last activity, and describes them.
import { isObject, type JsonObject } from "../../base/json.ts";
import { checkOptions, type OptionRule, someText } from "../../base/options.ts";
import { liveRun } from "../head/hold.ts";
import { corrupt } from "../head/namespace-rows.ts";
import { rowsThatMeet } from "../head/select-from.ts";
import { exists, type SessionCell, type SessionCells } from "../head/session-cell.ts";
import type { RunStatus } from "../ports/run-record.ts";
import type { SessionRow } from "../ports/tables.ts";
import { plainCopy } from "../rows/plain-json.ts";
import {
  containsText,
  hasMetadata,
  isWithin,
  type ListPart,
  listPages,
  listRules,
  type Time,
  type TimeRange,
} from "./lists.ts";
import { listRuns, metadataOf } from "./run-list.ts";

/** A session as lists show it. */
export interface SessionInfo {
  readonly sessionId: string;
  /** The first words of the first user message, unless `session.describe` set another. */
  readonly title?: string;
  readonly metadata?: JsonObject;
  readonly messageCount: number;
  /** The number of runs, subagents' runs excluded. */
  readonly runCount: number;
  /** The agent of the latest run. */
  readonly lastAgent?: string;
  /** The status of the latest run. */
  readonly lastStatus?: RunStatus;
  /** The session that this one is a branch of, and how many messages they share. */
  readonly branchedFrom?: { readonly sessionId: string; readonly messageCount: number };
  /** ISO 8601. */
  readonly createdAt: string;
  /** ISO 8601. */
  readonly lastActivityAt: string;
  /** The start of the next page: `list({ before: cursor })`. */
  readonly cursor: string;
}

export interface ListSessionsOptions extends ListPart {
  /** Text in the title or the id, in any case. */
  readonly text?: string | undefined;
  /** Values that the metadata of the session has. */
  readonly metadata?: JsonObject | undefined;
  /** Sessions with a run of this agent, or of one of several. */
  readonly agent?: string | readonly string[] | undefined;
  /** Sessions with a run of this status, or of one of several. */
  readonly status?: RunStatus | readonly RunStatus[] | undefined;
  /** Last active at this time or later. */
  readonly since?: Time | undefined;
  /** Last active at this time or earlier. */
  readonly until?: Time | undefined;
}

/** Lists sessions, most recently active first. Without a limit, the list is one snapshot. */
export async function listSessions(cells: SessionCells, options: ListSessionsOptions = {}): Promise<SessionInfo[]> {
  return (await listHeads(cells, options)).map(sessionInfo);
}

/** The heads of the same sessions. */
export async function listHeads(cells: SessionCells, options: ListSessionsOptions = {}): Promise<SessionRow[]> {
  checkOptions(options, listRules, "sessions.list()");
  const { order, limit: most = Number.POSITIVE_INFINITY } = options;
  await cells.context.rows.ready();
  if (most === 0) return [];
  const isWanted = await filterOf(cells, options);
  const found: SessionRow[] = [];
  for await (const page of headPages(cells, options)) {
    // One by one: a call cannot have hundreds of thousands of arguments.
    for (const head of page) if (isWanted(head)) found.push(head);
    if (found.length >= most) break;
  }
  // Sessions that became active meanwhile come last in the pages, and first in the list.
  if (order !== "oldest") found.sort((a, b) => b.activity - a.activity);
  return most === Number.POSITIVE_INFINITY ? found : found.slice(0, most);
}

/**
 * The heads of sessions by last activity, page by page. Sessions that became active between two pages have moved to the front, past
 * the pages that were still to come: they are a last page.
 */
export async function* headPages(
  cells: SessionCells,
  options: ListPart & TimeRange,
): AsyncGenerator<SessionRow[], void> {
  const { rows } = cells.context;
  const shown = (heads: readonly SessionRow[]): SessionRow[] =>
    rowsThatMeet(heads, isWithin("updated_at", options)).filter((head) => isReadable(cells, head));
  const seen = new Set<string>();
  let newest = 0;
  for await (const heads of listPages(rows, { table: "sessions", order: "activity", where: [] }, options)) {
    newest ||= heads[0]?.activity ?? 0;
    for (const { session_id } of heads) seen.add(session_id);
    yield shown(heads);
  }
  if (options.order === "oldest" || options.limit === undefined || options.before !== undefined) return;
  const moved = await rows.read("sessions", { order: "activity", from: newest + 1, reverse: true });
  yield shown(moved.filter(({ session_id }) => !seen.has(session_id)));
}

function isReadable({ context }: SessionCells, head: SessionRow): boolean {
  if (head.metadata === null || metadataOf(head) !== undefined) return true;
  context.report(corrupt(context.rows.nameOf("sessions", head), new Error("its metadata is no JSON object")));
  return false;
}

// The conditions that the row of a session alone cannot answer.
async function filterOf(
  cells: SessionCells,
  { agent, status, text, metadata }: ListSessionsOptions,
): Promise<(head: SessionRow) => boolean> {
  const isOfRuns = agent !== undefined || status !== undefined;
  const runs = isOfRuns ? await listRuns(cells, { agent, status, subagents: agent !== undefined }) : [];
  const sessions = new Set(runs.map(({ sessionId }) => sessionId));
  return (head) =>
    (!isOfRuns || sessions.has(head.session_id)) &&
    (text === undefined || containsText([head.title, head.session_id], text)) &&
    (metadata === undefined || hasMetadata(metadataOf(head), metadata));
}

/** A session as lists show it. */
export function sessionInfo(head: SessionRow): SessionInfo {
  const data = metadataOf(head);
  return {
    sessionId: head.session_id,
    ...(head.title !== null && { title: head.title }),
    ...(data && { metadata: data }),
    messageCount: head.message_count,
    runCount: head.run_count,
    ...(head.last_agent !== null && { lastAgent: head.last_agent }),
    ...(head.last_status !== null && { lastStatus: lastStatusOf(head) }),
    ...(head.branched_from !== null && {
      branchedFrom: { sessionId: head.branched_from, messageCount: head.branched_at ?? 0 },
    }),
    createdAt: head.created_at,
    lastActivityAt: head.updated_at,
    cursor: String(head.activity),
  };
}

function lastStatusOf(head: SessionRow): RunStatus {
  const { last_status } = head;
  const isStale = last_status === "running" && liveRun(head) === undefined;
  return isStale ? "interrupted" : (last_status as RunStatus);
}

/** One session; undefined if it was never written. */
export async function getSession(cell: SessionCell): Promise<SessionInfo | undefined> {
  const head = await cell.head();
  return head && sessionInfo(head);
}

export interface Description {
  /** The title; null removes it. */
  readonly title?: string | null | undefined;
  /** Replaces the metadata; null removes it. */
  readonly metadata?: JsonObject | null | undefined;
}

const descriptionRules: Readonly<Record<keyof Description, OptionRule>> = {
  title: { isFit: (value) => value === null || someText.isFit(value), words: "text, or null for none" },
  metadata: { isFit: (value) => value === null || isObject(value), words: "an object, or null for none" },
};

/** Sets title and metadata of a session, which is created if it does not exist. */
export async function describe(cell: SessionCell, description: Description): Promise<void> {
  // `null` removes a value here, so the rules are asked without the general refusal of null.
  checkOptions(description, descriptionRules, "session.describe()");
  const { title, metadata: values } = description;
  const data = values && plainCopy(values, "metadata");
  await cell.update("session.describe", async (change) => {
    // A new session gets a place in the list.
    change.isActive = !exists(change.head);
    change.head = {
      ...change.head,
      ...(title !== undefined && { title }),
      ...(data !== undefined && { metadata: data === null ? null : JSON.stringify(data) }),
    };
  });
}
