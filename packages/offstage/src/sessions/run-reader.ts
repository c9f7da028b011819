// Reads runs back: rows made into records. Says `interrupted` where a row says `running` and nobody runs it.
import { type Message, toolCallsOf } from "../messages/message.ts";
import type { SpanData } from "../tracing/span-data.ts";
import { readBetween } from "./conversation.ts";
import { isAbandoned } from "./holder.ts";
import type { OpenStep, RunInfo, RunRecord, StepRecord } from "./journal.ts";
import { decode } from "./message-rows.ts";
import { keyNumber, numberKey, stepKeys } from "./row-keys.ts";
import { type KeptMessage, type RunPlace, type RunRow, type StepRow, withKnown } from "./run-rows.ts";
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
  const { steps, openStep, children } = await readRunParts(cell, row);
  const [head, said, input, beneath] = await Promise.all([
    cell.head(),
    saidBy(cell, steps),
    inputOf(cell, row),
    Promise.all(children.map((n) => readRunRow(cell, n))),
  ]);
  return {
    ...infoOf(cell, row, head),
    input,
    steps: steps.map(([n, step]) => stepRecord(n, step, said)),
    ...(openStep && { openStep }),
    children: beneath.flatMap((child) => (child === undefined ? [] : infoOf(cell, child, head))),
  };
}

async function inputOf(cell: SessionCell, { input, prompt }: RunRow): Promise<readonly Message[]> {
  if (input === undefined) return prompt ?? [];
  return (await readBetween(cell, ...input)).map(({ message }) => message);
}

type Placed<T> = readonly [step: number, value: T];

interface RunParts {
  /** Finished steps; a number stands for a message of the conversation. */
  readonly steps: readonly Placed<Omit<StepRow, "messages"> & { readonly messages: readonly (Message | number)[] }>[];
  readonly openStep: OpenStep | undefined;
  readonly children: readonly number[];
  /** Spans that came with no step. */
  readonly packs: readonly (readonly PackedSpan[])[];
}

async function readRunParts(cell: SessionCell, run: RunRow): Promise<RunParts> {
  const range = { from: `${numberKey(run.n)}.`, before: stepKeys.values(run.n) };
  const rows = await cell.context.driver.read(cell.lists.steps, range);
  const parts = <T>(kind: string): (readonly [key: string, step: number, value: T])[] =>
    rows.flatMap((row) => {
      const start = row.key.indexOf(".") + 1;
      const value = row.key[start] === kind ? parseRow<T>(cell, row) : undefined;
      return value === undefined ? [] : [[row.key, keyNumber(row.key.slice(start + 1)), value] as const];
    });
  const written = [...parts<Message>("i"), ...parts<Message>("r")].map(([key, step, message]) => {
    return { key, step, message: withKnown(message, run, step) };
  });
  const byKey = new Map(written.map(({ key, message }) => [key, message]));
  const steps = parts<StepRow>("s").map(([, step, row]) => {
    const messages = row.messages.flatMap((kept) => keptMessage(kept, { byKey, run, step }) ?? []);
    return [step, { ...row, messages }] as const;
  });
  const finished = new Set(steps.map(([step]) => step));
  return {
    steps,
    openStep: openStepOf(written.filter(({ step }) => !finished.has(step))),
    children: parts<number>("c").map(([, , n]) => n),
    packs: parts<PackedSpan[]>("t").map(([, , spans]) => spans),
  };
}

interface Keeping {
  readonly byKey: ReadonlyMap<string, Message>;
  readonly run: RunRow;
  readonly step: number;
}

function keptMessage(kept: KeptMessage, { byKey, run, step }: Keeping): Message | number | undefined {
  if (typeof kept === "string") return byKey.get(kept);
  return typeof kept === "number" ? kept : withKnown(kept, run, step);
}

function openStepOf(written: readonly { readonly step: number; readonly message: Message }[]): OpenStep | undefined {
  const { step, message } = written.find((each) => each.message.role === "assistant") ?? {};
  if (step === undefined || message?.role !== "assistant") return undefined;
  const results = written.flatMap((each) => (each.step === step && each.message.role === "tool" ? each.message : []));
  const settled = new Set(results.map((result) => result.tool_call_id));
  return { step, message, results, pending: toolCallsOf(message).filter((call) => !settled.has(call.id)) };
}

function parseRow<T>(cell: SessionCell, row: Row): T | undefined {
  const name = `"${row.key}" of the runs of session "${cell.id}" in ${cell.context.driver.name}`;
  return decode<T>({ row, name }, cell.context.report);
}

// Messages that a step shares with the conversation, by position.
async function saidBy(cell: SessionCell, steps: RunParts["steps"]): Promise<ReadonlyMap<number, Message>> {
  const positions = steps.flatMap(([, step]) => step.messages.filter((message) => typeof message === "number"));
  if (positions.length === 0) return new Map();
  const placed = await readBetween(cell, Math.min(...positions), Math.max(...positions));
  return new Map(placed.map(({ position, message }) => [position, message]));
}

function stepRecord(step: number, row: RunParts["steps"][number][1], said: ReadonlyMap<number, Message>): StepRecord {
  const { spans, ...rest } = row;
  const messages = row.messages.flatMap((message) =>
    typeof message === "number" ? (said.get(message) ?? []) : message,
  );
  return { ...rest, step, messages, ...(spans && { spans: unpackSpans(spans) }) };
}

/** The tool messages of a run: what its steps with calls produced, the conversation left out. */
export async function readToolTrace(cell: SessionCell, run: RunRow): Promise<readonly Message[]> {
  const { steps } = await readRunParts(cell, run);
  return steps.flatMap(([, step]) => {
    const messages = step.messages.filter((message) => typeof message !== "number");
    return messages.some(({ role }) => role === "tool") ? messages : [];
  });
}

/** The spans that were kept with a run. */
export async function readRunSpans(cell: SessionCell, run: RunRow): Promise<SpanData[]> {
  const { steps, packs } = await readRunParts(cell, run);
  return [...steps.map(([, step]) => step.spans ?? []), ...packs].flatMap(unpackSpans);
}
