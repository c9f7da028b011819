// Exchanged: conversation and tool traces of a session as one list, in order of time. Computed, not stored.
import type { Message } from "../messages/message.ts";
import { readLatest } from "./conversation.ts";
import { readRunRows, readToolTrace } from "./run-reader.ts";
import type { SessionCell } from "./session-cell.ts";

/** Everything that was said and done in a session. The tool trace of a run follows the run's input. */
export async function exchanged(cell: SessionCell): Promise<Message[]> {
  const rows = (await readRunRows(cell)).filter(({ parentRunId }) => parentRunId === undefined);
  const traces = await Promise.all(rows.map((row) => readToolTrace(cell, row)));
  const runs = rows.map((row, index) => ({ after: row.input?.[1] ?? -1, trace: traces[index] ?? [] }));
  const list: Message[] = [];
  for (const { position, message } of await readLatest(cell)) {
    while (runs[0] !== undefined && runs[0].after < position) list.push(...(runs.shift()?.trace ?? []));
    list.push(message);
  }
  return [...list, ...runs.flatMap(({ trace }) => trace)];
}
