// Queries over a session, or over what a search finds in all of them.
import { MessageQuery, type MessageQueryOptions } from "../../../query/message-query.ts";
import type { SessionCells } from "../../head/session-cell.ts";
import type { RunRow } from "../../ports/tables.ts";
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

/** A query over the messages that a search finds, oldest first. */
export async function queryOver(
  cells: SessionCells,
  { tokenCounter, where, runs: given, ...options }: SearchOptions & MessageQueryOptions = {},
): Promise<MessageQuery> {
  const found: FoundMessage[] = [];
  for await (const each of search(cells, options)) found.push(each);
  const messages = found.map(({ message }) => message).reverse();
  const runIds = [...new Set(found.flatMap(({ run }) => run?.runId ?? []))];
  const rows = await Promise.all(
    runIds.map((runId) => cells.context.rows.read("runs", { order: "id", prefix: [runId], limit: 1 })),
  );
  const runs: RunRow[] = rows.flat().sort((a, b) => a.seq - b.seq);
  return new MessageQuery(messages, { tokenCounter, where, runs: given ?? (await summariesOf(cells, runs)) });
}
