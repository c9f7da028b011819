// Reads runs back: rows made into records. Says `interrupted` where a row says `running` and nobody runs it.
import type { Message, ToolMessage } from "../messages/message.ts";
import { readBetween } from "./conversation.ts";
import { isAbandoned } from "./holder.ts";
import type { RunInfo, RunRecord, StepRecord } from "./journal.ts";
import { decode } from "./message-rows.ts";
import { keyNumber, runKeys } from "./row-keys.ts";
import { openStepOf, type RunRow, type StepRow } from "./run-rows.ts";
import type { SessionCell } from "./session-cell.ts";
import type { SessionHead } from "./session-head.ts";
import type { StoreContext } from "./store-context.ts";
import type { Row } from "./store-driver.ts";

/** The rows of some runs; one that is gone or cannot be read is left out. */
export async function readRunRows(context: StoreContext, runIds: readonly string[]): Promise<RunRow[]> {
  const rows = await context.driver.get(runIds.map((id) => ({ list: context.lists.run(id), key: runKeys.row })));
  return rows.flatMap((row, index) => (row === undefined ? [] : (parseRow<RunRow>(context, row, runIds[index]) ?? [])));
}

/** A run as others see it, under the current head of its session. */
export function infoOf(row: RunRow, head: SessionHead | undefined): RunInfo {
  const { input: _, prompt: __, stamp: ___, rootRunId: ____, ...info } = row;
  return row.status === "running" && !isLive(row, head) ? { ...info, status: "interrupted" } : info;
}

function isLive(row: RunRow, head: SessionHead | undefined): boolean {
  const lease = head?.lease;
  return lease !== undefined && lease.runId === (row.rootRunId ?? row.runId) && !isAbandoned(lease, Date.now());
}

interface RunRows {
  readonly steps: readonly (readonly [number, StepRow])[];
  readonly results: readonly ToolMessage[];
  readonly childIds: readonly string[];
}

/** Everything recorded of a run. */
export async function readRun(cell: SessionCell, row: RunRow): Promise<RunRecord> {
  const { context } = cell;
  const rows = await context.driver.read(context.lists.run(row.runId), { before: runKeys.values });
  const { steps, results, childIds } = sortRows(context, row.runId, rows);
  const open = steps.find(([, step]) => step.isOpen);
  const [head, said, children] = await Promise.all([cell.head(), saidBy(cell, steps), readRunRows(context, childIds)]);
  children.sort((a, b) => a.stamp - b.stamp);
  return {
    ...infoOf(row, head),
    input: await inputOf(cell, row),
    steps: steps.filter(([, step]) => !step.isOpen).map(([n, step]) => stepRecord(n, step, said)),
    ...(open === undefined ? undefined : { openStep: openStepOf(...open, results) }),
    children: children.map((child) => infoOf(child, head)),
  };
}

async function inputOf(cell: SessionCell, { input, prompt }: RunRow): Promise<readonly Message[]> {
  if (input === undefined) return prompt ?? [];
  return (await readBetween(cell, ...input)).map(({ message }) => message);
}

function sortRows(context: StoreContext, runId: string, rows: readonly Row[]): RunRows {
  const of = <T>(prefix: string): (readonly [Row, T])[] =>
    rows.flatMap((row) => {
      const value = row.key.startsWith(prefix) ? parseRow<T>(context, row, runId) : undefined;
      return value === undefined ? [] : [[row, value] as const];
    });
  return {
    steps: of<StepRow>("s").map(([row, step]) => [keyNumber(row.key.slice(1)), step] as const),
    results: of<ToolMessage>("r").map(([, result]) => result),
    childIds: of<string>("c").map(([, id]) => id),
  };
}

function parseRow<T>(context: StoreContext, row: Row, runId: string | undefined): T | undefined {
  return decode<T>({ row, name: `"${row.key}" of run "${runId}" in ${context.driver.name}` }, context.report);
}

// Messages that a step shares with the conversation, by position.
async function saidBy(cell: SessionCell, steps: RunRows["steps"]): Promise<ReadonlyMap<number, Message>> {
  const positions = steps.flatMap(([, step]) => step.messages.filter((message) => typeof message === "number"));
  if (positions.length === 0) return new Map();
  const placed = await readBetween(cell, Math.min(...positions), Math.max(...positions));
  return new Map(placed.map(({ position, message }) => [position, message]));
}

function stepRecord(step: number, row: StepRow, said: ReadonlyMap<number, Message>): StepRecord {
  const messages = row.messages.flatMap((message) =>
    typeof message === "number" ? (said.get(message) ?? []) : message,
  );
  return { ...row, step, messages };
}

/** The tool messages of a run: what its steps with calls produced, the conversation left out. */
export async function readToolTrace(context: StoreContext, runId: string): Promise<readonly Message[]> {
  const rows = await context.driver.read(context.lists.run(runId), { from: "s", before: runKeys.values });
  return sortRows(context, runId, rows).steps.flatMap(([, step]) => {
    const messages = step.messages.filter((message) => typeof message !== "number");
    return step.isOpen || !messages.some(({ role }) => role === "tool") ? [] : messages;
  });
}
