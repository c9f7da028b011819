// Run rows: a run and its steps as text. A message that also stands in the conversation is kept there once, and here as its position.
import type { AssistantMessage, Message } from "../messages/message.ts";
import type { RunEnd, RunInfo, RunStart, StepRecord } from "./journal.ts";
import { numberKey, stepKeys } from "./row-keys.ts";
import type { SessionCell } from "./session-cell.ts";
import { type PackedSpan, packSpans } from "./span-rows.ts";
import type { StoreContext } from "./store-context.ts";
import type { Write } from "./store-driver.ts";

/** A run as it is stored. `running` may be stale; see run-reader.ts. */
export interface RunRow extends Omit<RunInfo, "sessionId"> {
  /** Its number in the session. */
  readonly n: number;
  /** Epoch microseconds of its beginning. */
  readonly stamp: number;
  /** The run at the top, whose lease covers this one. */
  readonly rootRunId?: string;
  /** Positions of the first and the last input message in the conversation. */
  readonly input?: readonly [number, number];
  /** Input of a run without a conversation of its own. */
  readonly prompt?: readonly Message[];
}

/** A step as it is stored: a number stands for the message at that position of the conversation. */
export interface StepRow extends Omit<StepRecord, "step" | "messages" | "values" | "spans"> {
  readonly messages: readonly (Message | number)[];
  readonly spans?: readonly PackedSpan[];
  /** The step has no end yet: calls are or were running. */
  readonly isOpen?: boolean;
}

/** Where a run is: its session, and its number there. */
export type RunPlace = readonly [sessionId: string, n: number];

type NewRun = Omit<RunStart, "historyLimit" | "onBusy">;

/** The row of a run that begins. */
export function runRow(start: NewRun, place: Pick<RunRow, "n" | "stamp" | "input" | "prompt" | "rootRunId">): RunRow {
  const { runId, agent, startedAt, parentRunId, parentToolCallId, traceId, notes } = start;
  const row = { runId, agent, status: "running", startedAt, parentRunId, parentToolCallId, traceId, notes, ...place };
  return row as RunRow;
}

/** The row of a run that ends. */
export function endedRow(row: RunRow, { status, reason, usage, endedAt, error, notes }: RunEnd): RunRow {
  const ended = { ...row, status, reason, usage, endedAt };
  if (notes !== undefined) Object.assign(ended, { notes: { ...row.notes, ...notes } });
  return error === undefined ? ended : { ...ended, error };
}

export function putRun(cell: SessionCell, row: RunRow): Write {
  return { list: cell.lists.runs, key: numberKey(row.n), value: JSON.stringify(row) };
}

/** The rows by which a new run is found: by its id, and by the trace its spans are in. */
export function indexRun({ id, context }: SessionCell, { runId, n, traceId }: RunRow): Write[] {
  const { lists } = context;
  const value = JSON.stringify([id, n]);
  const writes = [{ list: lists.run(runId), key: "at", value }];
  if (traceId !== undefined) writes.push({ list: lists.trace(traceId), key: lists.run(runId), value });
  return writes;
}

/** The rows of a finished step: its messages and spans, and whole values apart. */
export function putStep(cell: SessionCell, n: number, record: StepRecord, said?: ReadonlyMap<string, number>): Write[] {
  const { step, messages, values, spans, ...rest } = record;
  const list = cell.lists.steps;
  const kept = messages.map((message) => keptOnce(cell.context, message, said));
  const row = { messages: kept, ...rest, ...(spans && { spans: packSpans(spans) }) };
  const writes = [{ list, key: stepKeys.step(n, step), value: JSON.stringify(row) }];
  for (const [id, value] of Object.entries(values ?? {})) {
    writes.push({ list, key: stepKeys.value(n, id), value: JSON.stringify(value) });
  }
  return writes;
}

function keptOnce({ redact }: StoreContext, message: Message, said?: ReadonlyMap<string, number>): Message | number {
  const kept = redact === undefined ? message : redact(message);
  return said === undefined || said.size === 0 ? kept : (said.get(JSON.stringify(kept)) ?? kept);
}

/** The row of a step whose calls are about to run. */
export function putIntent(cell: SessionCell, n: number, step: number, message: AssistantMessage): Write {
  const messages = [keptOnce(cell.context, message)];
  return { list: cell.lists.steps, key: stepKeys.step(n, step), value: JSON.stringify({ isOpen: true, messages }) };
}
