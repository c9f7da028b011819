// Exchanged: conversation and tool traces of a session as one list, in order of time. Computed, not stored.
import { type Message, toolCallsOf } from "../messages/message.ts";
import { readLatest } from "./conversation.ts";
import { readWholeTrace } from "./run-parts.ts";
import { readRunRows } from "./run-reader.ts";
import type { RunRow } from "./run-rows.ts";
import type { SessionCell } from "./session-cell.ts";

/**
 * Everything that was said and done in a session. The tool trace of a run follows the run's input; one whose input was removed is
 * not in it.
 */
export async function exchanged(cell: SessionCell): Promise<Message[]> {
  const placed = await readLatest(cell);
  const said = new Set(placed.map(({ position }) => position));
  const rows = (await readRunRows(cell)).filter((row) => row.parentRunId === undefined && isAsked(row, said));
  const traces = await Promise.all(rows.map((row) => readWholeTrace(cell, row)));
  const isTrace = notAmong(placed.map(({ message }) => message));
  const runs = rows.map((row, index) => ({
    after: row.input?.[1] ?? -1,
    trace: (traces[index] ?? []).filter(isTrace),
  }));
  const list: Message[] = [];
  for (const { position, message } of placed) {
    while (runs[0] !== undefined && runs[0].after < position) list.push(...(runs.shift()?.trace ?? []));
    list.push(message);
  }
  return [...list, ...runs.flatMap(({ trace }) => trace)];
}

function isAsked({ input }: RunRow, said: ReadonlySet<number>): boolean {
  if (input === undefined) return true;
  const [first, last] = input;
  for (let position = first; position <= last; position++) if (said.has(position)) return true;
  return false;
}

/** Whether a message of a run is not in its conversation as well, as everything is where a run recorded everything. */
export function notAmong(conversation: readonly Message[]): (message: Message) => boolean {
  const said = new Set(conversation.map(identityOf));
  return (message) => message.metadata?.id === undefined || !said.has(identityOf(message));
}

// Partial text has the id of the message whose text it is, and not its calls.
function identityOf(message: Message): string {
  return `${message.metadata?.id} ${toolCallsOf(message).length}`;
}
