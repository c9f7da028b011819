// Run rows: a run and its steps as text. A message that also stands in the conversation is kept there once, and here as its position.
import type { Message, MessageMetadata } from "../messages/message.ts";
import type { RunEnd, RunInfo, RunStart, StepRecord } from "./journal.ts";
import { encode } from "./message-rows.ts";
import { idKey, numberKey, stepKeys } from "./row-keys.ts";
import type { SessionCell } from "./session-cell.ts";
import { type PackedSpan, packSpans } from "./span-rows.ts";
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

/** A message, the position in the conversation where it stands, or the key of the row that has it already. */
export type KeptMessage = Message | number | string;

/** A step as it is stored. */
export interface StepRow extends Omit<StepRecord, "step" | "messages" | "values" | "spans"> {
  readonly messages: readonly KeptMessage[];
  readonly spans?: readonly PackedSpan[];
}

/** What a message of a run says of itself that its row says already. */
type Known = Pick<MessageMetadata, "runId" | "agent" | "step">;

// A row that begins with room for its end is rewritten where it is, and leaves no gap.
const roomForEnd = 140;

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
  const text = encode(row);
  const value = row.status === "running" ? text.padEnd(text.length + roomForEnd) : text;
  return { list: cell.lists.runs, key: numberKey(row.n), value };
}

/** The rows by which a new run is found: by its id, and by the trace its spans are in. */
export function indexRun({ id, context }: SessionCell, { runId, n, traceId }: RunRow): Write[] {
  const { lists } = context;
  const value = JSON.stringify([id, n]);
  const writes = [{ list: lists.run(runId), key: "at", value }];
  if (traceId !== undefined)
    writes.push({ list: lists.trace(traceId), key: `run.${idKey(id)}.${numberKey(n)}`, value });
  return writes;
}

/** Messages that are written already, by object: the key of their row, or their position in the conversation. */
export type Written = ReadonlyMap<Message, string | number>;

/** The rows of a finished step: its messages and spans, and whole values apart. */
export function putStep(cell: SessionCell, run: RunRow, record: StepRecord, written: Written): Write[] {
  const { step, messages, values, spans, ...rest } = record;
  const list = cell.lists.steps;
  const kept = messages.map((message) => written.get(message) ?? ownMessage(cell, run, step, message));
  const row = { messages: kept, ...rest, ...(spans && { spans: packSpans(spans) }) };
  const writes = [{ list, key: stepKeys.step(run.n, step), value: encode(row) }];
  for (const [id, value] of Object.entries(values ?? {})) {
    writes.push({ list, key: stepKeys.value(run.n, id), value: encode(value) });
  }
  return writes;
}

/** The row of a message of a step that is under way. */
export function putMessage(
  cell: SessionCell,
  run: RunRow,
  step: number,
  { key, message }: { key: string; message: Message },
): Write {
  return { list: cell.lists.steps, key, value: encode(ownMessage(cell, run, step, message)) };
}

function ownMessage({ context: { redact } }: SessionCell, run: RunRow, step: number, message: Message): Message {
  const kept = redact === undefined ? message : redact(message);
  return withoutKnown(kept, { runId: run.runId, agent: run.agent, step });
}

function withoutKnown(message: Message, known: Known): Message {
  const { metadata } = message;
  if (
    metadata === undefined ||
    metadata.runId !== known.runId ||
    metadata.agent !== known.agent ||
    metadata.step !== known.step
  )
    return message;
  const { runId: _, agent: __, step: ___, ...rest } = metadata;
  return { ...message, metadata: { ...rest, run: true } };
}

/** A message as it was before `withoutKnown`. */
export function withKnown(message: Message, { runId, agent }: Pick<RunRow, "runId" | "agent">, step: number): Message {
  const { metadata } = message;
  if (metadata?.run !== true) return message;
  const { run: _, ...rest } = metadata;
  return { ...message, metadata: { ...rest, runId, agent, step } };
}
