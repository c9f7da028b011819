// Reads runs. A run whose row says `running` is `interrupted` if no process holds its lease.

import { shownValue } from "../base/options.ts";
import { OffstageError } from "../errors.ts";
import { parseMessage } from "../messages/codec.ts";
import type { Message } from "../messages/message.ts";
import { runIdOf } from "../tracing/trace-span.ts";
import { readBetween } from "./conversation.ts";
import { isAbandoned } from "./holder.ts";
import type { RunInfo, RunRecord, StepRecord } from "./journal.ts";
import { corrupt, decode } from "./message-rows.ts";
import { keyNumber, numberKey } from "./row-keys.ts";
import { parseRow, type ReadStep, type RunParts, readRunParts } from "./run-parts.ts";
import { type RunPlace, type RunRow, unpackRun } from "./run-rows.ts";
import { isPackedRun, isRunPlace } from "./run-shapes.ts";
import type { SessionCell } from "./session-cell.ts";
import type { SessionHead } from "./session-head.ts";
import { otherForm, shaped } from "./shape.ts";
import type { Report, StoreContext } from "./store-context.ts";
import type { Row, RowRange } from "./store-driver.ts";

/** Finds runs by id; undefined for a run that does not exist or cannot be read. */
export async function findRuns(
  context: StoreContext,
  runIds: readonly string[],
  report: Report = context.report,
): Promise<(RunPlace | undefined)[]> {
  const rows = await context.driver.get(runIds.map((id) => ({ list: context.lists.run(id), key: "at" })));
  return rows.map((row, index) => {
    const name = `the place of run "${runIds[index]}" in ${context.driver.name}`;
    return row && decode({ row, name }, report, shaped(isRunPlace));
  });
}

/** Finds a run by the id that a caller passed. */
export async function findRun(context: StoreContext, runId: string, report?: Report): Promise<RunPlace | undefined> {
  if (typeof runId !== "string" || runId === "")
    throw new OffstageError(
      "invalid-argument",
      `A run id must be text of at least one character; found ${shownValue(runId)}.`,
    );
  return (await findRuns(context, [runId], report))[0];
}

/** Finds the runs that have spans in a trace; undefined for a damaged row. */
export async function runsInTrace(context: StoreContext, traceId: string): Promise<(RunPlace | undefined)[]> {
  const { driver, lists, report } = context;
  const [rows, [opener]] = await Promise.all([
    driver.read(lists.trace(traceId), { before: "spans." }),
    findRuns(context, [runIdOf(traceId)]),
  ]);
  const name = `the runs of trace "${traceId}" in ${driver.name}`;
  const joined = rows.map((row) => decode({ row, name }, report, shaped(isRunPlace)));
  return opener === undefined ? joined : [opener, ...joined];
}

/** The runs of a session in a range of numbers. */
export async function readRunRows(cell: SessionCell, range: RowRange = {}): Promise<RunRow[]> {
  return (await readRunPage(cell, range)).runs;
}

/** A page of runs, and the key of its last row, readable or not; undefined if there are no more pages. */
export async function readRunPage(
  cell: SessionCell,
  range: RowRange,
): Promise<{ readonly runs: RunRow[]; readonly end: string | undefined }> {
  const rows = await cell.context.driver.read(cell.lists.runs, range);
  const end = rows.length === range.limit ? rows.at(-1)?.key : undefined;
  return { runs: rows.flatMap((row) => parseRun(cell, row) ?? []), end };
}

/** One run of a session. */
export async function readRunRow(cell: SessionCell, n: number, report?: Report): Promise<RunRow | undefined> {
  const [row] = await cell.context.driver.get([{ list: cell.lists.runs, key: numberKey(n) }]);
  return row && parseRun(cell, row, report);
}

/** Reads the run at a place. If another run is there, reports damage and returns undefined. */
export async function readRunAt(
  cell: SessionCell,
  { n, runId }: Pick<RunRow, "n" | "runId">,
  report: Report = cell.context.report,
): Promise<RunRow | undefined> {
  const row = await readRunRow(cell, n, report);
  if (row === undefined || row.runId === runId) return row;
  const name = `the place of run "${runId}" in ${cell.context.driver.name}`;
  report(corrupt(name, new Error(`it contains run "${row.runId}"`)));
  return undefined;
}

// A child whose parent is another run is damage.
async function readChild(cell: SessionCell, n: number, parent: ParentOptions): Promise<RunRow | undefined> {
  const { runId, report = cell.context.report } = parent;
  const row = await readRunRow(cell, n, report);
  if (row === undefined || row.parentRunId === runId) return row;
  const name = `the subagents' runs of run "${runId}" in ${cell.context.driver.name}`;
  report(corrupt(name, new Error(`run "${row.runId}" is not one of them`)));
  return undefined;
}

interface ParentOptions {
  readonly runId: string;
  readonly report?: Report | undefined;
}

function parseRun(cell: SessionCell, row: Row, report?: Report): RunRow | undefined {
  return parseRow(cell, row, { report, read: (value) => readRunOf(value, keyNumber(row.key)) });
}

function readRunOf(value: unknown, n: number): RunRow {
  if (!isPackedRun(value)) throw otherForm();
  const run = unpackRun(value, n);
  for (const message of run.prompt ?? []) parseMessage(message);
  return run;
}

/** A run as lists show it, under the current head of its session. */
export function infoOf(cell: SessionCell, row: RunRow, head: SessionHead | undefined): RunInfo {
  const { n: _, stamp: __, rootRunId: ___, input: ____, prompt: _____, resumedIn: ______, ...info } = row;
  const status = row.status === "running" && !isLive(row, head) ? "interrupted" : row.status;
  return { ...info, status, sessionId: cell.id };
}

function isLive(row: RunRow, head: SessionHead | undefined): boolean {
  const lease = head?.lease;
  return lease !== undefined && lease.runId === (row.rootRunId ?? row.runId) && !isAbandoned(lease, Date.now());
}

/**
 * Everything recorded of a run to resume. Throws `store-corrupt` if a part of it, or of a subagent's run, cannot be read, because
 * tool calls might then be repeated.
 */
export async function readToResume(cell: SessionCell, row: RunRow): Promise<RunRecord> {
  const refuse = refusing(row.runId);
  const parts = await readRunParts(cell, row, refuse);
  await checkBeneath(cell, row, { parts, report: refuse });
  return recordOf(cell, row, { parts, report: refuse });
}

/** The row of a run to resume; undefined if the session has no such run. Throws `store-corrupt` if it cannot be read. */
export async function findToResume(cell: SessionCell, runId: string): Promise<RunRow | undefined> {
  const refuse = refusing(runId);
  const [place] = await findRuns(cell.context, [runId], refuse);
  return place?.[0] === cell.id ? readRunAt(cell, { n: place[1], runId }, refuse) : undefined;
}

/** Throws `store-corrupt` instead of skipping an unreadable row of a run to resume. */
export function refusing(runId: string): Report {
  return (damage) => {
    const message = `Run "${runId}" cannot be resumed because a part of its record cannot be read. ${damage.message} Restore a backup, or start a new run.`;
    throw new OffstageError("store-corrupt", message, { cause: damage });
  };
}

async function checkBeneath(cell: SessionCell, { runId }: RunRow, { parts, report }: Beneath): Promise<void> {
  for (const n of parts.children) {
    const child = await readChild(cell, n, { runId, report });
    if (child === undefined) continue;
    await findRuns(cell.context, [child.runId], report);
    await checkBeneath(cell, child, { parts: await readRunParts(cell, child, report), report });
  }
}

interface Beneath {
  readonly parts: RunParts;
  readonly report: Report;
}

/** Everything readable that is recorded of a run. */
export async function readRun(cell: SessionCell, row: RunRow): Promise<RunRecord> {
  return recordOf(cell, row, { parts: await readRunParts(cell, row) });
}

interface RecordOptions {
  readonly parts: RunParts;
  readonly report?: Report;
}

async function recordOf(cell: SessionCell, row: RunRow, { parts, report }: RecordOptions): Promise<RunRecord> {
  const { steps, openStep, children } = parts;
  const [head, said, input, beneath] = await Promise.all([
    cell.head(),
    saidBy(cell, steps, report),
    inputOf(cell, row, report),
    Promise.all(children.map((n) => readChild(cell, n, { runId: row.runId, report }))),
  ]);
  return {
    ...infoOf(cell, row, head),
    input,
    steps: steps.map((step) => stepRecord(step, said)),
    ...(openStep && { openStep }),
    ...(input.length < inputCount(row) || steps.some((step) => lacksMessage(step, said)) ? { isIncomplete: true } : {}),
    children: beneath.flatMap((child) => (child === undefined ? [] : infoOf(cell, child, head))),
  };
}

async function inputOf(cell: SessionCell, { input, prompt }: RunRow, report?: Report): Promise<readonly Message[]> {
  if (input === undefined) return prompt ?? [];
  return (await readBetween(cell, input, report)).map(({ message }) => message);
}

function inputCount({ input }: RunRow): number {
  return input === undefined ? 0 : input[1] - input[0] + 1;
}

// The messages that steps share with the conversation, by position.
async function saidBy(
  cell: SessionCell,
  steps: RunParts["steps"],
  report?: Report,
): Promise<ReadonlyMap<number, Message>> {
  const positions = steps.flatMap((step) => step.messages.filter((message) => typeof message === "number"));
  if (positions.length === 0) return new Map();
  const first = positions.reduce((a, b) => Math.min(a, b));
  const last = positions.reduce((a, b) => Math.max(a, b));
  const placed = await readBetween(cell, [first, last], report);
  return new Map(placed.map(({ position, message }) => [position, message]));
}

function stepRecord(step: ReadStep, said: ReadonlyMap<number, Message>): StepRecord {
  const messages = step.messages.flatMap((message) =>
    typeof message === "number" ? (said.get(message) ?? []) : message,
  );
  return { ...step, messages };
}

function lacksMessage({ messages }: ReadStep, said: ReadonlyMap<number, Message>): boolean {
  return messages.some((message) => typeof message === "number" && !said.has(message));
}
