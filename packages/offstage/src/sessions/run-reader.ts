// Reads runs back: rows made into records. Says `interrupted` where a row says `running` and nobody runs it.
import { type AssistantMessage, type Message, type ToolMessage, toolCallsOf } from "../messages/message.ts";
import type { SpanData } from "../tracing/span-data.ts";
import { readBetween } from "./conversation.ts";
import { isAbandoned } from "./holder.ts";
import type { OpenStep, RunInfo, RunRecord, StepRecord } from "./journal.ts";
import { decode } from "./message-rows.ts";
import { keyNumber, numberKey, stepKeys } from "./row-keys.ts";
import type { RunPlace, RunRow, StepRow } from "./run-rows.ts";
import type { SessionCell } from "./session-cell.ts";
import type { SessionHead } from "./session-head.ts";
import { type PackedSpan, unpackSpans } from "./span-rows.ts";
import type { StoreContext } from "./store-context.ts";
import type { Row, RowRange } from "./store-driver.ts";

/** Where runs are, by id; undefined where there is none. */
export async function findRuns(context: StoreContext, runIds: readonly string[]): Promise<(RunPlace | undefined)[]> {
  const rows = await context.driver.get(runIds.map((id) => ({ list: context.lists.run(id), key: "at" })));
  return rows.map((row, index) => {
    const name = `the place of run "${runIds[index]}" in ${context.driver.name}`;
    return row && decode<RunPlace>({ row, name }, context.report);
  });
}

/** Runs of a session, a part of them in order of their number. */
export async function readRunRows(cell: SessionCell, range: RowRange = {}): Promise<RunRow[]> {
  const rows = await cell.context.driver.read(cell.lists.runs, range);
  return rows.flatMap((row) => parseRow<RunRow>(cell, row) ?? []);
}

/** One run of a session. */
export async function readRunRow(cell: SessionCell, n: number): Promise<RunRow | undefined> {
  const [row] = await cell.context.driver.get([{ list: cell.lists.runs, key: numberKey(n) }]);
  return row && parseRow<RunRow>(cell, row);
}

/** A run as others see it, under the current head of its session. */
export function infoOf(cell: SessionCell, row: RunRow, head: SessionHead | undefined): RunInfo {
  const { n: _, stamp: __, rootRunId: ___, input: ____, prompt: _____, ...info } = row;
  const status = row.status === "running" && !isLive(row, head) ? "interrupted" : row.status;
  return { ...info, status, sessionId: cell.id };
}

function isLive(row: RunRow, head: SessionHead | undefined): boolean {
  const lease = head?.lease;
  return lease !== undefined && lease.runId === (row.rootRunId ?? row.runId) && !isAbandoned(lease, Date.now());
}

/** Everything recorded of a run. */
export async function readRun(cell: SessionCell, row: RunRow): Promise<RunRecord> {
  const { steps, results, children } = await readRunParts(cell, row.n);
  const open = steps.find(([, step]) => step.isOpen);
  const [head, said, input, beneath] = await Promise.all([
    cell.head(),
    saidBy(cell, steps),
    inputOf(cell, row),
    Promise.all(children.map((n) => readRunRow(cell, n))),
  ]);
  return {
    ...infoOf(cell, row, head),
    input,
    steps: steps.filter(([, step]) => !step.isOpen).map(([n, step]) => stepRecord(n, step, said)),
    ...(open && { openStep: openStepOf(open, results) }),
    children: beneath.flatMap((child) => (child === undefined ? [] : infoOf(cell, child, head))),
  };
}

async function inputOf(cell: SessionCell, { input, prompt }: RunRow): Promise<readonly Message[]> {
  if (input === undefined) return prompt ?? [];
  return (await readBetween(cell, ...input)).map(({ message }) => message);
}

type PlacedStep = readonly [step: number, row: StepRow];

interface RunParts {
  readonly steps: readonly PlacedStep[];
  readonly results: readonly ToolMessage[];
  readonly children: readonly number[];
  readonly spans: readonly PackedSpan[];
}

async function readRunParts(cell: SessionCell, n: number): Promise<RunParts> {
  const range = { from: `${numberKey(n)}.`, before: stepKeys.values(n) };
  const rows = await cell.context.driver.read(cell.lists.steps, range);
  const kinds = (kind: string): Row[] => rows.filter(({ key }) => key[key.indexOf(".") + 1] === kind);
  const parsed = <T>(kind: string): T[] => kinds(kind).flatMap((row) => parseRow<T | T[]>(cell, row) ?? []);
  const steps = kinds("s").flatMap((row): PlacedStep[] => {
    const step = parseRow<StepRow>(cell, row);
    return step === undefined ? [] : [[keyNumber(row.key.slice(row.key.indexOf(".") + 2)), step]];
  });
  return { steps, results: parsed("r"), children: parsed("c"), spans: parsed("t") };
}

function parseRow<T>(cell: SessionCell, row: Row): T | undefined {
  const name = `"${row.key}" of the runs of session "${cell.id}" in ${cell.context.driver.name}`;
  return decode<T>({ row, name }, cell.context.report);
}

// Messages that a step shares with the conversation, by position.
async function saidBy(cell: SessionCell, steps: readonly PlacedStep[]): Promise<ReadonlyMap<number, Message>> {
  const positions = steps.flatMap(([, step]) => step.messages.filter((message) => typeof message === "number"));
  if (positions.length === 0) return new Map();
  const placed = await readBetween(cell, Math.min(...positions), Math.max(...positions));
  return new Map(placed.map(({ position, message }) => [position, message]));
}

function stepRecord(step: number, row: StepRow, said: ReadonlyMap<number, Message>): StepRecord {
  const { spans, ...rest } = row;
  const messages = row.messages.flatMap((message) =>
    typeof message === "number" ? (said.get(message) ?? []) : message,
  );
  return { ...rest, step, messages, ...(spans && { spans: unpackSpans(spans) }) };
}

function openStepOf([step, row]: PlacedStep, results: readonly ToolMessage[]): OpenStep {
  const message = row.messages[0] as AssistantMessage;
  const settled = new Set(results.map((result) => result.tool_call_id));
  return { step, message, results, pending: toolCallsOf(message).filter((call) => !settled.has(call.id)) };
}

/** The tool messages of a run: what its steps with calls produced, the conversation left out. */
export async function readToolTrace(cell: SessionCell, n: number): Promise<readonly Message[]> {
  const { steps } = await readRunParts(cell, n);
  return steps.flatMap(([, step]) => {
    const messages = step.messages.filter((message) => typeof message !== "number");
    return step.isOpen || !messages.some(({ role }) => role === "tool") ? [] : messages;
  });
}

/** The spans that were kept with a run. */
export async function readRunSpans(cell: SessionCell, n: number): Promise<SpanData[]> {
  const { steps, spans } = await readRunParts(cell, n);
  return unpackSpans([...steps.flatMap(([, step]) => step.spans ?? []), ...spans]);
}
