// Queries over a session, or over what a search finds in all of them.
import { OffstageError } from "../../../errors.ts";
import type { Message } from "../../../messages/message.ts";
import { MessageQuery, type MessageQueryOptions } from "../../../query/message-query.ts";
import { checkId } from "../../head/namespace-rows.ts";
import type { SessionCells } from "../../head/session-cell.ts";
import { findRun, withSubagents } from "../run-reader.ts";
import { readTranscript } from "../transcript.ts";
import { summariesOf } from "./run-summaries.ts";
import { type FoundMessage, type SearchOptions, search } from "./search.ts";

/** A query over everything that was said and done in a session. */
export async function querySession(
  cells: SessionCells,
  sessionId: string,
  options: MessageQueryOptions = {},
): Promise<MessageQuery> {
  const { messages, runs } = await readTranscript(cells, sessionId);
  return new MessageQuery(messages, { runs: await summariesOf(cells, runs), ...options });
}

export interface StoreQueryOptions extends SearchOptions, MessageQueryOptions {
  /** One run with its subagents, instead of a search. */
  readonly runId?: string | undefined;
}

/**
 * A query over the messages that a search finds, oldest first, or over a run. A message of a run that branches copied is in it once, so
 * that tokens count once.
 */
export async function queryOver(
  cells: SessionCells,
  { tokenCounter, where, runs: given, runId, ...options }: StoreQueryOptions = {},
): Promise<MessageQuery> {
  if (runId !== undefined) return queryOneRun(cells, { runId, tokenCounter, where, runs: given, ...options });
  const found: FoundMessage[] = [];
  for await (const each of search(cells, options)) found.push(each);
  const messages = withoutCopies(found.map(({ message }) => message).reverse());
  const runIds = [...new Set(found.flatMap(({ run }) => run?.runId ?? []))];
  const rows = await Promise.all(runIds.map((id) => findRun(cells.context, id)));
  const runs = rows.filter((row) => row !== undefined).sort((a, b) => a.seq - b.seq);
  return new MessageQuery(messages, { tokenCounter, where, runs: given ?? (await summariesOf(cells, runs)) });
}

// Only the ids of messages of runs are unique in a store.
function withoutCopies(messages: readonly Message[]): Message[] {
  const seen = new Set<string>();
  return messages.filter(({ metadata: { runId, id } = {} }) => {
    if (runId === undefined || id === undefined) return true;
    const key = JSON.stringify([runId, id]);
    const isFirst = !seen.has(key);
    seen.add(key);
    return isFirst;
  });
}

async function queryOneRun(
  cells: SessionCells,
  { runId, tokenCounter, where, runs, ...others }: StoreQueryOptions & { readonly runId: string },
): Promise<MessageQuery> {
  const [other] = Object.entries(others).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (other !== undefined)
    throw new OffstageError(
      "invalid-argument",
      `query() takes either "runId" or options of a search; found "${other}" beside "runId". Filter the messages of the run instead: (await store.query({ runId })).where(…).`,
    );
  checkId(runId, "run id");
  const row = await findRun(cells.context, runId);
  if (row === undefined)
    throw new OffstageError("run-not-found", `Run "${runId}" was not found in this namespace of the store.`);
  const query = await querySession(cells, row.session_id, { tokenCounter, where, ...(runs !== undefined && { runs }) });
  const runIds = new Set((await withSubagents(cells.context.rows, row)).map(({ run_id }) => run_id));
  return query.where(({ metadata }) => metadata?.runId !== undefined && runIds.has(metadata.runId));
}
