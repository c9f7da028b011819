// A run in a query over its session: its own messages, and those of its subagents at all levels.
import type { MessageQuery } from "./message-query.ts";

/** A query over the messages of a run and its subagents. */
export function queryRun(query: MessageQuery, runId: string): MessageQuery {
  const runs = new Set([runId]);
  // The run of a subagent follows the call that started it, so its parent is known by then.
  for (const { metadata } of query.all())
    if (metadata?.parentRunId !== undefined && runs.has(metadata.parentRunId)) runs.add(String(metadata.runId));
  return query.where(({ metadata }) => metadata?.runId !== undefined && runs.has(metadata.runId));
}
