// Checks the invariants of a whole namespace, for tests and operators. Changes nothing.

import { isObject, otherForm, parseJson } from "../../base/json.ts";
import { checkOptions, type OptionRule, someFunction } from "../../base/options.ts";
import type { OffstageError } from "../../errors.ts";
import { toolCallsOf } from "../../messages/message.ts";
import { messagesOf } from "../conversation/conversation.ts";
import { corrupt, type NamespaceRows, type Report } from "../head/namespace-rows.ts";
import { type SessionCells, sessionCells } from "../head/session-cell.ts";
import type { RunRecord } from "../ports/run-record.ts";
import type { Row } from "../ports/store-driver.ts";
import type { RowOf, RunRow, SessionRow, TableName } from "../ports/tables.ts";
import { callStatuses } from "../rows/run-row.ts";
import { readAnnotations } from "./annotations.ts";
import { readMemory } from "./memories.ts";
import { readInfo, readRecord } from "./run-reader.ts";
import { listHeads } from "./session-list.ts";
import { spansOf } from "./span-list.ts";

/** A violated invariant. */
export interface Violation {
  readonly sessionId?: string;
  readonly runId?: string;
  readonly problem: string;
}

export interface VerifyOptions {
  /** Called with the number of sessions that were checked, and the number of all. */
  readonly onProgress?: ((checked: number, total: number) => void) | undefined;
}

const verifyRules: Readonly<Record<keyof VerifyOptions, OptionRule>> = { onProgress: someFunction };

/** All violated invariants of a namespace. */
export async function verifyStore(open: SessionCells, options: VerifyOptions = {}): Promise<Violation[]> {
  checkOptions(options, verifyRules, "verify()");
  const found: Violation[] = [];
  const cells = reportingTo(open, (error) => found.push({ problem: error.message }));
  const heads = await listHeads(cells);
  const runIds: string[] = [];
  for (const [index, { session_id }] of heads.entries()) {
    options.onProgress?.(index, heads.length);
    const { problems, runs } = await checkSession(cells, session_id);
    found.push(...problems.map((problem) => ({ sessionId: session_id, problem })));
    for (const run of runs) found.push(...(await checkRun(cells, run)));
    runIds.push(...runs.map(({ run_id }) => run_id));
  }
  options.onProgress?.(heads.length, heads.length);
  await readLoose(cells);
  for (const [runId, { length }] of Map.groupBy(runIds, (id) => id))
    if (length > 1) found.push({ runId, problem: "is recorded twice" });
  // A damaged row is met more than once.
  return [...new Map(found.map((each) => [JSON.stringify(each), each])).values()];
}

// The same sessions, read with another report function.
function reportingTo({ context }: SessionCells, report: Report): SessionCells {
  return sessionCells({ ...context, rows: context.rows.reporting(report), report });
}

// Enough for a session that several processes write to continuously.
const mostLooks = 100;

interface Seen {
  readonly problems: readonly string[];
  /** The readable runs, those of subagents included. */
  readonly runs: readonly RunRow[];
}

// A session that changes while it is read is checked again.
async function checkSession(cells: SessionCells, sessionId: string): Promise<Seen> {
  for (let look = 0; look < mostLooks; look++) {
    const damage: OffstageError[] = [];
    const seen = await lookAt(
      reportingTo(cells, (error) => damage.push(error)),
      sessionId,
    );
    if (seen === undefined) continue;
    for (const error of damage) cells.context.report(error);
    return seen;
  }
  return { problems: ["changed during every check; verify again when it is idle"], runs: [] };
}

/** The problems of a session, whose unreadable values are reported; undefined if it changed while it was read. */
async function lookAt(cells: SessionCells, sessionId: string): Promise<Seen | undefined> {
  const { rows } = cells.context;
  const [head] = await rows.getAll("sessions", [[sessionId]]);
  if (head === undefined) return { problems: [], runs: [] };
  const said = await rows.readRaw("messages", { order: "said", prefix: [sessionId] });
  const all = await rows.readRaw("messages", { prefix: [sessionId] });
  await messagesOf(cells.of(sessionId), rows.openAll("messages", all), { withProviderParts: true });
  const runs = await rows.read("runs", { prefix: [sessionId] });
  await readValues(rows, sessionId);
  const [after] = await rows.getAll("sessions", [[sessionId]]);
  if (after?.version !== head.version) return undefined;
  const problems: string[] = [];
  if (said.length !== head.message_count)
    problems.push(`should have ${head.message_count} messages and has ${said.length}`);
  if (
    said.some(({ position }) => Number(position) >= head.next_position) ||
    all.some(({ seq }) => Number(seq) >= head.next_seq)
  )
    problems.push("has a message past its end");
  const isReadable = (run: RunRow) => readInfo(rows, run, head) !== undefined;
  return { problems: [...problems, ...countProblems(head, runs)], runs: runs.filter(isReadable) };
}

// Reads every other value of a session, so that damage is reported.
async function readValues(rows: NamespaceRows, sessionId: string): Promise<void> {
  const check = async <Name extends TableName>(table: Name, isFit: (row: RowOf<Name>) => boolean): Promise<void> => {
    for (const row of await rows.read(table, { prefix: [sessionId] }))
      if (!isFit(row)) rows.report(corrupt(rows.nameOf(table, row as unknown as Row), otherForm()));
  };
  await check("steps", () => true);
  await check("contents", ({ content }) => content !== null);
  await check("tool_calls", ({ status }) => callStatuses.includes(status));
  await check("inbox", ({ message }) => isObject(parseJson(message ?? "")));
  spansOf(rows, await rows.read("spans", { prefix: [sessionId] }));
  readAnnotations(rows, await rows.read("annotations", { prefix: [sessionId] }));
}

// Reads what belongs to no session.
async function readLoose({ context: { rows } }: SessionCells): Promise<void> {
  spansOf(rows, await rows.read("spans", { prefix: [""] }));
  for (const row of await rows.read("memories", { order: "all" })) readMemory(rows, row);
}

function countProblems(head: SessionRow, runs: readonly RunRow[]): string[] {
  const outermost = runs.filter(({ parent_run_id }) => parent_run_id === null).length;
  const problems = outermost === head.run_count ? [] : [`should have ${head.run_count} runs and has ${outermost}`];
  return runs.some(({ number }) => number >= head.next_run) ? [...problems, "has a run past its end"] : problems;
}

async function checkRun(cells: SessionCells, { session_id, number, run_id }: RunRow): Promise<Violation[]> {
  const run = await readRecord(cells, run_id);
  const problems = run === undefined ? ["is listed but has no row"] : [...stepProblems(run), ...endProblems(run)];
  if (problems.length === 0) return [];
  // The run may have been deleted meanwhile. If it cannot be read, that was reported before.
  const [latest] = await cells.context.rows.getAll("runs", [[session_id, number]]);
  return latest === undefined ? [] : problems.map((problem) => ({ sessionId: session_id, runId: run_id, problem }));
}

function stepProblems({ steps, openStep, isIncomplete }: RunRecord): string[] {
  const problems = steps.flatMap(({ step, messages }, index) => {
    const results = new Set(messages.flatMap((message) => (message.role === "tool" ? message.tool_call_id : [])));
    const calls = messages.flatMap((message) => toolCallsOf(message).map(({ id }) => id));
    // Messages that were removed from the conversation leave their calls or results behind.
    const unanswered = isIncomplete ? [] : calls.filter((id) => !results.has(id));
    return [
      ...(step === index + 1 ? [] : [`has step ${step} at position ${index + 1}`]),
      ...(unanswered.length === 0 ? [] : [`has unanswered calls in step ${step}: ${unanswered.join(", ")}`]),
    ];
  });
  if (openStep !== undefined && openStep.step <= steps.length)
    problems.push(`has an open step ${openStep.step} before its last step`);
  return problems;
}

function endProblems({ status, endedAt, openStep }: RunRecord): string[] {
  const isOver = status !== "running" && status !== "interrupted";
  if (isOver && endedAt === undefined) return ["has ended but has no end time"];
  return status === "completed" && openStep !== undefined ? ["is completed but has an open step"] : [];
}
