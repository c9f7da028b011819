// The messages of what a text means: a session, or a run with its subagents.
import type { MessageQuery } from "../../query/message-query.ts";
import type { Store } from "../../sessions/store.ts";
import { findEither } from "./find.ts";

/** A query over a session, or over a run with its subagents. */
export async function queryOf(store: Store, wanted: string): Promise<MessageQuery> {
  const found = await findEither(store, wanted);
  if (found.runId === undefined) return store.session(found.session.sessionId).query();
  const run = await store.runs.get(found.runId);
  const ids = new Set([found.runId, ...(await idsBelow(store, found.runId))]);
  const query = await store.session(run?.sessionId ?? "").query();
  return query.where(({ metadata }) => metadata?.runId !== undefined && ids.has(metadata.runId));
}

async function idsBelow(store: Store, runId: string): Promise<string[]> {
  const { children = [] } = (await store.runs.get(runId)) ?? {};
  const below = await Promise.all(children.map((child) => idsBelow(store, child.runId)));
  return [...children.map((child) => child.runId), ...below.flat()];
}
