// The sessions of a store: listed by last activity, looked up, deleted with everything that belongs to them.
import { type ActivityRow, activityKey } from "./activity.ts";
import { checkFree } from "./lease.ts";
import { checkLimit } from "./limit.ts";
import { decode } from "./message-rows.ts";
import { keyNumber } from "./row-keys.ts";
import { readRunRows } from "./run-reader.ts";
import type { SessionCell } from "./session-cell.ts";
import type { SessionHead } from "./session-head.ts";
import type { StoreContext } from "./store-context.ts";
import type { Row, Write } from "./store-driver.ts";

/** What a list of sessions shows of one. */
export interface SessionInfo {
  readonly sessionId: string;
  readonly messageCount: number;
  readonly runCount: number;
  /** ISO 8601. */
  readonly createdAt: string;
  /** ISO 8601. */
  readonly lastActivityAt: string;
  /** Where the next page begins: `list({ before: cursor })`. */
  readonly cursor: string;
}

export interface ListSessionsOptions {
  /** At most so many; undefined is all. */
  readonly limit?: number;
  /** The `cursor` of the last session of the page before. */
  readonly before?: string;
}

/** Sessions, the most recently active first. */
export async function listSessions(context: StoreContext, options: ListSessionsOptions = {}): Promise<SessionInfo[]> {
  const limit = checkLimit(options.limit);
  if (limit === 0) return [];
  const { before } = options;
  const range = {
    reverse: true,
    ...(limit === undefined ? {} : { limit }),
    ...(before === undefined ? {} : { before }),
  };
  const rows = await context.driver.read(context.lists.activity, range);
  return rows.flatMap((row) => sessionInfo(context, row) ?? []);
}

function sessionInfo(context: StoreContext, row: Row): SessionInfo | undefined {
  const found = decode<ActivityRow>({ row, name: `session "${row.key}" in ${context.driver.name}` }, context.report);
  return found && infoOf({ ...found, active: keyNumber(row.key.split(".", 1)[0] ?? ""), cursor: row.key });
}

function infoOf(from: ActivityRow & { readonly active: number; readonly cursor: string }): SessionInfo {
  return {
    sessionId: from.id,
    messageCount: from.count,
    runCount: from.runs,
    createdAt: new Date(from.created).toISOString(),
    lastActivityAt: new Date(from.active / 1000).toISOString(),
    cursor: from.cursor,
  };
}

/** One session, or undefined where it was never written. */
export async function getSession(cell: SessionCell): Promise<SessionInfo | undefined> {
  const head = await cell.head();
  return head && infoOf({ ...head, cursor: activityKey(head) });
}

/** Removes a session with its conversation, runs and spans; true where there was one. Throws where a run holds it. */
export function deleteSession(cell: SessionCell): Promise<boolean> {
  return cell.update("session.delete", async (head) => {
    checkFree(cell, head);
    const removed = head.active === 0 ? [] : await everythingOf(cell, head);
    return { result: removed.length > 0, writes: removed, isRewrite: true, isGone: true };
  });
}

async function everythingOf(cell: SessionCell, head: SessionHead): Promise<Write[]> {
  const { context } = cell;
  const index = await context.driver.read(cell.lists.runs);
  const runs = await runsBeneath(
    context,
    index.map((row) => row.value),
  );
  return [
    { list: cell.lists.head },
    { list: cell.lists.messages },
    { list: cell.lists.runs },
    { list: context.lists.activity, key: activityKey(head) },
    ...index.map(({ key }) => ({ list: context.lists.runs, key })),
    ...runs.flatMap(({ runId, traceId }) => [
      { list: context.lists.run(runId) },
      ...(traceId === undefined ? [] : [{ list: context.lists.trace(traceId) }]),
    ]),
  ];
}

async function runsBeneath(
  context: StoreContext,
  runIds: readonly string[],
): Promise<{ runId: string; traceId?: string }[]> {
  if (runIds.length === 0) return [];
  const rows = new Map((await readRunRows(context, runIds)).map((row) => [row.runId, row]));
  const children = await Promise.all(runIds.map((id) => childrenOf(context, id)));
  const beneath = await runsBeneath(context, children.flat());
  return [...runIds.map((runId) => rows.get(runId) ?? { runId }), ...beneath];
}

async function childrenOf(context: StoreContext, runId: string): Promise<string[]> {
  const rows = await context.driver.read(context.lists.run(runId), { from: "c", before: "d" });
  const name = `a child of run "${runId}" in ${context.driver.name}`;
  return rows.flatMap((row) => decode<string>({ row, name }, context.report) ?? []);
}
