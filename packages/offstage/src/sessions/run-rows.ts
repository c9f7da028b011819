// Run rows: a run and its steps as text. A message that also stands in the conversation is kept there once, and here as its position.
import type { AssistantMessage, Message, ToolMessage } from "../messages/message.ts";
import { toolCallsOf } from "../messages/message.ts";
import type { OpenStep, RunEnd, RunInfo, RunStart, StepRecord } from "./journal.ts";
import { idKey, numberKey, runKeys } from "./row-keys.ts";
import type { SessionCell } from "./session-cell.ts";
import type { StoreContext } from "./store-context.ts";
import type { Write } from "./store-driver.ts";

/** A run as it is stored. `running` may be stale; see run-reader.ts. */
export interface RunRow extends RunInfo {
  /** The run at the top, whose lease covers this one. */
  readonly rootRunId?: string;
  /** Positions of the first and the last input message in the conversation. */
  readonly input?: readonly [number, number];
  /** Input of a run without a conversation of its own. */
  readonly prompt?: readonly Message[];
  /** Its place among runs. */
  readonly stamp: number;
}

/** A step as it is stored: a number stands for the message at that position of the conversation. */
export interface StepRow extends Omit<StepRecord, "step" | "messages" | "values" | "spans"> {
  readonly messages: readonly (Message | number)[];
  /** The step has no end yet: calls are or were running. */
  readonly isOpen?: boolean;
}

/** The row of a run that begins. */
export function runRow(start: Omit<RunStart, "historyLimit" | "onBusy">, sessionId: string, stamp: number): RunRow {
  const { runId, agent, startedAt, parentRunId, parentToolCallId, traceId, notes } = start;
  return {
    runId,
    sessionId,
    agent,
    status: "running",
    startedAt,
    stamp,
    ...defined({ parentRunId, parentToolCallId, traceId, notes }),
  };
}

/** The row of a run that ends. */
export function endedRow(row: RunRow, end: RunEnd): RunRow {
  const { status, reason, usage, endedAt, error } = end;
  const notes = end.notes === undefined ? row.notes : { ...row.notes, ...end.notes };
  return { ...row, status, reason, usage, endedAt, ...defined({ error, notes }) };
}

function defined<T extends object>(fields: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Key in keyof T]?: Exclude<T[Key], undefined> };
}

export function putRun(context: StoreContext, row: RunRow): Write {
  return { list: context.lists.run(row.runId), key: runKeys.row, value: JSON.stringify(row) };
}

/** The rows that list a run: under its session, and among all runs. */
export function indexRun(cell: SessionCell, row: RunRow): Write[] {
  const key = `${numberKey(row.stamp)}.${idKey(row.runId)}`;
  return [
    { list: cell.lists.runs, key, value: row.runId },
    { list: cell.context.lists.runs, key, value: row.runId },
  ];
}

export interface PutStepOptions {
  /** Texts of conversation messages of the same write, and their positions. */
  readonly said?: ReadonlyMap<string, number>;
}

/** The rows of a finished step: its messages, whole values and spans. */
export function putStep(context: StoreContext, row: RunRow, record: StepRecord, options: PutStepOptions = {}): Write[] {
  const { step, messages, values = {}, spans: _, ...rest } = record;
  const list = context.lists.run(row.runId);
  const kept = messages.map((message) => keptOnce(context, message, options.said));
  return [
    { list, key: runKeys.step(step), value: JSON.stringify({ messages: kept, ...rest }) },
    ...Object.entries(values).map(([id, value]) => ({ list, key: runKeys.value(id), value: JSON.stringify(value) })),
  ];
}

function keptOnce(context: StoreContext, message: Message, said: PutStepOptions["said"]): Message | number {
  const kept = context.redact === undefined ? message : context.redact(message);
  return said?.get(JSON.stringify(kept)) ?? kept;
}

/** The row of a step whose calls are about to run. */
export function putIntent(context: StoreContext, row: RunRow, step: number, message: AssistantMessage): Write {
  const kept = context.redact === undefined ? message : context.redact(message);
  const value = JSON.stringify({ isOpen: true, messages: [kept] });
  return { list: context.lists.run(row.runId), key: runKeys.step(step), value };
}

/** A stored step with the results that were recorded for it, as what it says about unfinished work. */
export function openStepOf(step: number, row: StepRow, results: readonly ToolMessage[]): OpenStep {
  const message = row.messages[0] as AssistantMessage;
  const settled = new Set(results.map((result) => result.tool_call_id));
  return { step, message, results, pending: toolCallsOf(message).filter((call) => !settled.has(call.id)) };
}
