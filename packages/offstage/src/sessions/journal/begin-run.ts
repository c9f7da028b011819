// The rows of a run that begins: its input, and its row.

import type { Message } from "../../messages/message.ts";
import { appendRows } from "../conversation/conversation.ts";
import type { SessionCell } from "../head/session-cell.ts";
import type { NewRun } from "../ports/journal.ts";
import type { Write } from "../ports/store-driver.ts";
import type { RunRow, SessionRow } from "../ports/tables.ts";
import { findRun } from "../records/run-reader.ts";
import { frozenCopy } from "../rows/plain-json.ts";
import { newRunRow } from "../rows/run-row.ts";

export interface BeginOptions {
  readonly start: NewRun;
  /** For a subagent's run: the outermost run. Its input is then part of what was done. */
  readonly rootRunId?: string | undefined;
}

export interface BegunRun {
  readonly row: RunRow;
  readonly head: SessionRow;
  readonly writes: Write[];
  /** The input as it is stored. */
  readonly input: readonly Message[];
}

/** The row with the number that the store issued. If the reply of the write was lost, the number is read. */
export async function numbered(cell: SessionCell, row: RunRow, seq: number): Promise<RunRow> {
  return seq > 0 ? { ...row, seq } : ((await findRun(cell.context, row.run_id)) ?? row);
}

/** The rows of a run that begins, under a head, and the head after them. */
export function beginRun(cell: SessionCell, head: SessionRow, { start, rootRunId }: BeginOptions): BegunRun {
  const { redact } = cell.context;
  const run = { runId: start.runId, agent: start.agent, step: undefined };
  const isSaid = rootRunId === undefined;
  const added = start.input.map((given) => {
    const message = frozenCopy(redact === undefined ? given : redact(given));
    return { message, given, run, isSaid };
  });
  const appended = appendRows(cell, head, added);
  const number = head.next_run;
  const row = newRunRow(start, { namespace: cell.namespace, session_id: cell.id, number, rootRunId });
  return {
    row,
    head: { ...appended.head, next_run: number + 1 },
    writes: [...appended.writes, { table: "runs", row, numbered: "seq" }],
    input: added.map(({ message }) => message),
  };
}
