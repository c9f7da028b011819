// Checks the invariants of a whole namespace, for tests and operators. Changes nothing.

import { isObject, otherForm, parseJson } from "../../base/json.ts";
import { checkOptions, type OptionRule, someFunction } from "../../base/options.ts";
import type { OffstageError } from "../../errors.ts";
import { toolCallsOf } from "../../messages/message.ts";
import { messagesOf } from "../conversation/conversation.ts";
import { type SessionCells, sessionCells } from "../head/session-cell.ts";
import type { RunRecord } from "../ports/run-record.ts";
import type { Row } from "../ports/store-driver.ts";
import type { RowOf, RunRow, SessionRow, TableName } from "../ports/tables.ts";
import { corrupt } from "../rows/check-row.ts";
import { callStatuses } from "../rows/run-row.ts";
import { readAnnotations } from "./annotations.ts";
import { readMemory } from "./memories.ts";
import { listRuns } from "./run-list.ts";
import { readRecord } from "./run-reader.ts";
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
  const report = (error: Error): void => void found.push({ problem: error.message });
  const rows = open.context.rows.reporting(report);
  const cells = sessionCells({ ...open.context, rows, report });
  const heads = await listHeads(cells);
  for (const [index, head] of heads.entries()) {
    options.onProgress?.(index, heads.length);
    found.push(...(await checkSession(cells, head.session_id)));
  }
  options.onProgress?.(heads.length, heads.length);
  await readLoose(cells);
  const ids = (await listRuns(cells, { subagents: true })).map(({ runId }) => runId);
  const seen = new Set<string>();
  const twice = new Set(ids.filter((runId) => seen.has(runId) || !seen.add(runId)));
  for (const runId of twice) found.push({ runId, problem: "is recorded twice" });
  const ofRuns = new Map<string, Violation[]>();
  for (const { runId } of await listRuns(cells)) {
    const problems = await checkRun(cells, runId);
    if (problems.length > 0) ofRuns.set(runId, problems);
  }
  return ofRuns.size === 0 ? unique(found) : unique([...found, ...(await stillListed(open, ofRuns))]);
}

// A damaged row is met more than once.
function unique(found: readonly Violation[]): Violation[] {
  return [...new Map(found.map((each) => [JSON.stringify(each), each])).values()];
}

// Drops problems of runs that were deleted meanwhile. Silent, because unreadable rows were reported before.
async function stillListed(open: SessionCells, problems: ReadonlyMap<string, Violation[]>): Promise<Violation[]> {
  const silent = sessionCells({ ...open.context, rows: open.context.rows.reporting(() => {}), report: () => {} });
  return (await listRuns(silent)).flatMap(({ runId }) => problems.get(runId) ?? []);
}

// Enough for a session that several processes write to continuously.
const mostLooks = 100;

// A session that changes while it is read is checked again.
async function checkSession(cells: SessionCells, sessionId: string): Promise<Violation[]> {
  for (let look = 0; look < mostLooks; look++) {
    const seen = await lookAt(cells, sessionId);
    if (seen === undefined) continue;
    for (const error of seen.damage) cells.context.report(error);
    return seen.problems.map((problem) => ({ sessionId, problem }));
  }
  return [{ sessionId, problem: "changed during every check; verify again when it is idle" }];
}

interface Seen {
  readonly problems: readonly string[];
  /** Values that cannot be read. */
  readonly damage: readonly OffstageError[];
}

/** The problems of a session; undefined if it changed while it was read. */
async function lookAt(cells: SessionCells, sessionId: string): Promise<Seen | undefined> {
  const { rows } = cells.context;
  const [head] = await rows.getAll("sessions", [[sessionId]]);
  if (head === undefined) return { problems: [], damage: [] };
  const said = await rows.readRaw("messages", { order: "said", prefix: [sessionId] });
  const all = await rows.readRaw("messages", { prefix: [sessionId] });
  const runs = await rows.read("runs", { prefix: [sessionId] });
  const damage = await damageIn(cells, sessionId);
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
  return { problems: [...problems, ...countProblems(head, runs)], damage };
}

// Reads every value of a session.
async function damageIn(cells: SessionCells, sessionId: string): Promise<OffstageError[]> {
  const found: OffstageError[] = [];
  const { rows } = cells.context;
  const read = <Name extends TableName>(table: Name) => rows.read(table, { prefix: [sessionId] });
  const check = <Name extends TableName>(table: Name, row: RowOf<Name>, isFit: boolean): void => {
    if (!isFit) found.push(corrupt(rows.nameOf(table, row as unknown as Row), otherForm()));
  };
  const report = (error: OffstageError): void => void found.push(error);
  await messagesOf(cells.of(sessionId), await read("messages"), { report, withProviderParts: true });
  for (const row of await read("contents")) check("contents", row, row.content !== null);
  for (const row of await read("tool_calls")) check("tool_calls", row, callStatuses.includes(row.status));
  for (const row of await read("inbox")) check("inbox", row, isObject(parseJson(row.message ?? "")));
  spansOf(rows.reporting(report), await read("spans"));
  readAnnotations(rows.reporting(report), await read("annotations"));
  await read("steps");
  return found;
}

// Reads what belongs to no session.
async function readLoose(cells: SessionCells): Promise<void> {
  const { rows } = cells.context;
  spansOf(rows, await rows.read("spans", { prefix: [""] }));
  for (const row of await rows.read("memories", { order: "all" })) readMemory(rows, row);
}

function countProblems(head: SessionRow, runs: readonly RunRow[]): string[] {
  const outermost = runs.filter(({ parent_run_id }) => parent_run_id === null).length;
  const problems = outermost === head.run_count ? [] : [`should have ${head.run_count} runs and has ${outermost}`];
  return runs.some(({ number }) => number >= head.next_run) ? [...problems, "has a run past its end"] : problems;
}

async function checkRun(cells: SessionCells, runId: string, above: readonly string[] = []): Promise<Violation[]> {
  if (above.includes(runId)) return [{ runId, problem: "is its own subagent" }];
  const run = await readRecord(cells, runId);
  if (run === undefined) return [{ runId, problem: "is listed but has no row" }];
  const problems = [...stepProblems(run), ...endProblems(run)];
  const beneath = await Promise.all(run.children.map((child) => checkRun(cells, child.runId, [...above, runId])));
  return [...problems.map((problem) => ({ sessionId: run.sessionId, runId, problem })), ...beneath.flat()];
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
