// Lists the sessions of a store by last activity, describes them, and deletes one with everything that belongs to it.
import { isObject, type JsonObject } from "../../base/json.ts";
import { checkOptions, type OptionRule, oneOf, someText } from "../../base/options.ts";
import { liveRun } from "../head/hold.ts";
import { exists, type SessionCell, type SessionCells } from "../head/session-cell.ts";
import { checkFree } from "../lease/lease.ts";
import type { RunStatus } from "../ports/run-record.ts";
import { checkLimit } from "../ports/session.ts";
import type { Write } from "../ports/store-driver.ts";
import type { SessionRow } from "../ports/tables.ts";
import { corrupt } from "../rows/check-row.ts";
import { plainCopy } from "../rows/plain-json.ts";
import { containsText, filterRules, hasMetadata, isWithin, someCursor, type Time } from "./filters.ts";
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

export interface ListSessionsOptions {
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
  /** Most recently active first, by default; "oldest" reverses that. */
  readonly order?: "newest" | "oldest" | undefined;
  /** The maximum number of sessions. Default: all. */
  readonly limit?: number | undefined;
  /** The `cursor` of the last session of the previous page. */
  readonly before?: string | undefined;
}

const { limit, since, until, agent, status, text, metadata } = filterRules;
const listRules: Readonly<Record<keyof ListSessionsOptions, OptionRule>> = {
  ...{ limit, since, until, agent, status, text, metadata },
  order: oneOf("newest", "oldest"),
  before: someCursor(),
};

/** Lists sessions, most recently active first. Without a limit, the list is one snapshot. */
export async function listSessions(cells: SessionCells, options: ListSessionsOptions = {}): Promise<SessionInfo[]> {
  return (await listHeads(cells, options)).map(sessionInfo);
}

/** The heads of the same sessions. */
export async function listHeads(cells: SessionCells, options: ListSessionsOptions = {}): Promise<SessionRow[]> {
  checkOptions(options, listRules, "sessions.list()");
  const most = checkLimit(options.limit) ?? Number.POSITIVE_INFINITY;
  const { rows: access } = cells.context;
  await access.ready();
  const isWanted = most === 0 ? () => false : await filterOf(cells, options);
  const isOldest = options.order === "oldest";
  const found: SessionRow[] = [];
  let cursor = options.before === undefined ? undefined : Number(options.before);
  const first = cursor;
  let newest: number | undefined;
  const seen = new Set<string>();
  while (found.length < most) {
    const size = most === Number.POSITIVE_INFINITY ? undefined : Math.max(most, 100);
    const range = isOldest
      ? { from: cursor === undefined ? undefined : cursor + 1 }
      : { before: cursor, reverse: true };
    const raw = await access.readRaw("sessions", { order: "activity", ...range, limit: size });
    const page = access.openAll("sessions", raw).filter((head) => isReadable(cells, head));
    // One by one: a call cannot have hundreds of thousands of arguments.
    for (const head of page) {
      seen.add(head.session_id);
      if (isWanted(head)) found.push(head);
    }
    newest ??= raw[0] === undefined ? undefined : Number(raw[0].activity);
    if (size === undefined || raw.length < size) break;
    cursor = Number(raw.at(-1)?.activity);
  }
  // Sessions that became active between two pages have moved to the front, past the pages that were still to come.
  if (!isOldest && first === undefined && found.length < most && newest !== undefined) {
    const moved = await access.read("sessions", { order: "activity", from: newest + 1, reverse: true });
    found.unshift(...moved.filter((head) => !seen.has(head.session_id) && isWanted(head)));
  }
  return most === Number.POSITIVE_INFINITY ? found : found.slice(0, most);
}

function isReadable({ context }: SessionCells, head: SessionRow): boolean {
  if (head.metadata === null || metadataOf(head) !== undefined) return true;
  context.report(corrupt(context.rows.nameOf("sessions", head), new Error("its metadata is no JSON object")));
  return false;
}

async function filterOf(cells: SessionCells, options: ListSessionsOptions): Promise<(head: SessionRow) => boolean> {
  const { agent: agents, status: statuses, text: wanted, metadata: values } = options;
  const isOfRuns = agents !== undefined || statuses !== undefined;
  const runs = isOfRuns
    ? await listRuns(cells, { agent: agents, status: statuses, subagents: agents !== undefined })
    : [];
  const sessions = new Set(runs.map(({ sessionId }) => sessionId));
  return (head) =>
    isWithin(head.updated_at, options) &&
    (!isOfRuns || sessions.has(head.session_id)) &&
    (wanted === undefined || containsText([head.title, head.session_id], wanted)) &&
    (values === undefined || hasMetadata(metadataOf(head), values));
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
  await cell.update("session.describe", async (head) => ({
    result: undefined,
    writes: [],
    head: {
      ...head,
      ...(title !== undefined && { title }),
      ...(data !== undefined && { metadata: data === null ? null : JSON.stringify(data) }),
    },
    // A new session gets a place in the list.
    isActive: !exists(head),
  }));
}

export interface DeleteOptions {
  /** The last activity that the caller knows of. A session that was active since then is not deleted. */
  readonly activity?: number;
}

/** Removes a session with its conversation, runs and spans; true if there was one. Rejects if a run holds the session. */
export function deleteSession(
  cell: SessionCell,
  { activity = Number.POSITIVE_INFINITY }: DeleteOptions = {},
): Promise<boolean> {
  return cell.update("session.delete", async (head) => {
    if (!exists(head) || head.activity > activity) return { result: false, writes: [] };
    checkFree(cell, head);
    return { result: true, writes: await everythingOf(cell), isRewrite: true, isGone: true };
  });
}

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
