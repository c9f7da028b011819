// The messages of what a text means: a session, or a run with its subagents.
import type { MessageQuery } from "../../query/message-query.ts";
import type { Store } from "../../sessions/store.ts";
import { findEither } from "./find.ts";

/** A query over a session, or over a run with its subagents. */
export async function queryOf(store: Store, wanted: string): Promise<MessageQuery> {
  const found = await findEither(store, wanted);
  if (found.runId === undefined) return store.session(found.session.sessionId).query();
  return store.query({ runId: found.runId });
}
