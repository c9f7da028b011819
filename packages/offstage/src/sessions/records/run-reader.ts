// Reads one run: its row, its messages grouped into steps, its calls, the calls that wait for approval, its subagents' runs, and its
// tool trace. Needs no agent.

import { deepFreeze } from "../../base/json.ts";
import { type Message, toolCallsOf } from "../../messages/message.ts";
import { addUsage, noUsage } from "../../tokens/usage.ts";
import { messagesOf } from "../conversation/conversation.ts";
import { liveRun } from "../head/hold.ts";
import { corrupt, type NamespaceRows, type Report } from "../head/namespace-rows.ts";
import type { SessionCell, SessionCells, StoreContext } from "../head/session-cell.ts";
import {
  type Approval,
  approvalOf,
  type OpenStep,
  type RunInfo,
  type RunRecord,
  type StepRecord,
} from "../ports/run-record.ts";
import type { MessageRow, RunRow, SessionRow, StepRow, ToolCallRow } from "../ports/tables.ts";
import type { PlacedMessage } from "../rows/message-row.ts";
import { readQuestion } from "../rows/question.ts";
import { failedAttemptsOf, readStep, runInfo, usageOf } from "../rows/run-row.ts";
import { type WaitingNote, waitingNotes } from "./run-notes.ts";

/** The row of a run; undefined if there is none, or if it cannot be read. */
export async function findRun(context: StoreContext, runId: string, report?: Report): Promise<RunRow | undefined> {
  const rows = report === undefined ? context.rows : context.rows.reporting(report);
  const [row] = await rows.read("runs", { order: "id", prefix: [runId], limit: 1 });
  return row;
}

/** The run and the runs of its subagents, at all levels. */
export async function withSubagents(rows: NamespaceRows, run: RunRow): Promise<RunRow[]> {
  const children = await readChildren(rows, run);
  return [run, ...(await Promise.all(children.map((child) => withSubagents(rows, child)))).flat()];
}

// A subagent's run begins after its parent. A damaged row that says otherwise would make readers go in circles.
function readChildren(rows: NamespaceRows, { session_id, run_id, number }: RunRow): Promise<RunRow[]> {
  return rows.read("runs", { order: "parent", prefix: [session_id, run_id], from: number + 1 });
}

/** A run as lists show it, under the current head of its session; undefined if its row has an unexpected form, which is reported. */
export function readInfo(rows: NamespaceRows, row: RunRow, head: SessionRow | undefined): RunInfo | undefined {
  const info = rows.parse("runs", row, runInfo);
  const isLive = head !== undefined && liveRun(head) === (row.root_run_id ?? row.run_id);
  return info?.status === "running" && !isLive ? { ...info, status: "interrupted" } : info;
}

/**
 * The run with what its finished steps used, if its row does not tell: the row of a run is written at its end. What a run used before it
 * was resumed is in its row, subagents included.
 */
export function withSteps<Run extends Pick<RunInfo, "stepCount" | "usage" | "cost">>(
  run: Run,
  steps: readonly StepRow[],
): Run {
  const finished = steps.filter(({ finish_reason }) => finish_reason !== null);
  const used = finished.map(usageOf).reduce(addUsage, noUsage);
  const cost = finished.reduce<number | null>(
    (sum, { cost_usd }) => (sum === null || cost_usd === null ? null : sum + cost_usd),
    0,
  );
  if (finished.length <= run.stepCount && used.totalTokens <= (run.usage?.totalTokens ?? 0)) return run;
  return {
    ...run,
    stepCount: Math.max(run.stepCount, finished.length),
    ...(used.totalTokens > (run.usage?.totalTokens ?? -1) && { usage: used, ...(cost !== null && { cost }) }),
  };
}

/** Everything that is read of a run. */
export interface RunParts {
  readonly row: RunRow;
  readonly messages: readonly PlacedMessage[];
  readonly steps: readonly StepRow[];
  readonly calls: readonly ToolCallRow[];
  readonly children: readonly RunRow[];
}

/** Reads a run. What happens with rows that cannot be read is up to `rows`. */
export async function readParts(cell: SessionCell, row: RunRow, rows: NamespaceRows): Promise<RunParts> {
  const prefix = [cell.id, row.run_id];
  const [steps, calls, children] = await Promise.all([
    rows.read("steps", { prefix }),
    rows.read("tool_calls", { prefix }),
    readChildren(rows, row),
  ]);
  // Read last: the messages of a step are written before it, or with it.
  return { row, messages: await readMessages(cell, row.run_id, rows), steps, calls, children };
}

/** The messages of a run, in the order in which they were written. */
export async function readMessages(cell: SessionCell, runId: string, rows: NamespaceRows): Promise<PlacedMessage[]> {
  const found = await rows.read("messages", { order: "run", prefix: [cell.id, runId] });
  const messages = await messagesOf(cell, found, { report: rows.report, withProviderParts: true });
  for (const placed of messages) cell.refs.set(placed.message, placed.row);
  return messages;
}

/** Everything readable that is recorded of a run; undefined if its row has an unexpected form. */
export async function readRun(cell: SessionCell, row: RunRow): Promise<RunRecord | undefined> {
  const { rows } = cell.context;
  const [parts, [head]] = await Promise.all([readParts(cell, row, rows), rows.getAll("sessions", [[cell.id]])]);
  return recordOf(parts, rows, head);
}

/** The record of a run; undefined if its row has an unexpected form. */
export function recordOf(parts: RunParts, rows: NamespaceRows, head: SessionRow | undefined): RunRecord | undefined {
  const { row, messages, calls, children } = parts;
  const info = readInfo(rows, row, head);
  if (info === undefined) return undefined;
  const byStep = Map.groupBy(messages, (each) => each.row.step);
  const input = (byStep.get(null) ?? []).map(({ message }) => message);
  const steps = parts.steps.flatMap((step): StepRecord[] => {
    const record = rows.parse("steps", step, readStep);
    return record === undefined ? [] : [{ ...record, messages: inCallOrder(byStep.get(step.step)) }];
  });
  const isIncomplete = input.length < row.input_count || steps.some((step) => step.messages[0]?.role !== "assistant");
  const openStep = openStepOf(parts, rows, steps.at(-1)?.step ?? 0);
  const lastStep = parts.steps.at(-1);
  const failedAttempts = lastStep && rows.parse("steps", lastStep, failedAttemptsOf);
  return {
    ...withSteps(info, parts.steps),
    stepCount: steps.length,
    errorCount: calls.filter(({ status }) => status === "error").length,
    input,
    steps,
    ...(openStep && { openStep }),
    ...(failedAttempts && { failedAttempts }),
    ...(isIncomplete && { isIncomplete }),
    children: children.flatMap((child) => readInfo(rows, child, head) ?? []),
  };
}

// The messages of a step: the reply first, then results in the order of its calls, then notes.
function inCallOrder(placed: readonly PlacedMessage[] = []): Message[] {
  // A conversation that was replaced by copies of its messages has them twice.
  const messages = [...new Map(placed.map(({ identity, message }) => [identity ?? message, message])).values()];
  const reply = messages.find(({ role }) => role === "assistant");
  const order = new Map((reply ? toolCallsOf(reply) : []).map(({ id }, index) => [id, index]));
  const rank = (message: Message): number => {
    if (message === reply) return -1;
    return message.role === "tool" ? (order.get(message.tool_call_id) ?? order.size) : order.size + 1;
  };
  return messages.sort((a, b) => rank(a) - rank(b));
}

function openStepOf({ row, messages, calls }: RunParts, rows: NamespaceRows, lastStep: number): OpenStep | undefined {
  const later = messages.filter((each) => (each.row.step ?? 0) > lastStep);
  const step = Math.max(calls.at(-1)?.step ?? 0, ...later.map((each) => each.row.step ?? 0));
  if (step <= lastStep) return undefined;
  const [message, ...rest] = inCallOrder(later.filter((each) => each.row.step === step));
  if (message?.role !== "assistant") {
    rows.report(corrupt(rows.nameOf("runs", row), new Error(`the calls of step ${step} have no message`)));
    return undefined;
  }
  const results = rest.filter((each) => each.role === "tool");
  const settled = new Set(results.map(({ tool_call_id }) => tool_call_id));
  const pending = toolCallsOf(message).filter(({ id }) => !settled.has(id));
  const open = calls.filter((call) => call.step === step && pending.some(({ id }) => id === call.call_id));
  const waiting = open.filter(({ status }) => status === "waiting").map(({ call_id }) => call_id);
  const questions = open.flatMap((call) => {
    const question = rows.parse("tool_calls", call, ({ question: text }) => readQuestion(text));
    return question === undefined ? [] : [[call.call_id, question] as const];
  });
  return {
    step,
    message,
    results,
    pending,
    ...(waiting.length > 0 && { waiting }),
    ...(questions.length > 0 && { questions: Object.fromEntries(questions) }),
  };
}

const mostTraces = 64;
const mostCharacters = 8_192;

/** The tool traces of runs, for `toolHistory`: the messages of all steps with tool results, by run id. */
export async function readToolTraces(
  cell: SessionCell,
  runIds: readonly string[],
): Promise<ReadonlyMap<string, readonly Message[]>> {
  const traces = await Promise.all(runIds.map((runId) => traceOf(cell, runId)));
  return new Map(runIds.map((id, index) => [id, traces[index] ?? []]));
}

async function traceOf(cell: SessionCell, runId: string): Promise<readonly Message[]> {
  const known = cell.traces.get(runId);
  if (known !== undefined) return known;
  const row = await findRun(cell.context, runId);
  if (row?.session_id !== cell.id) return [];
  const { rows } = cell.context;
  const steps = await rows.read("steps", { prefix: [cell.id, runId] });
  const finished = new Set(steps.flatMap(({ step, finish_reason }) => (finish_reason === null ? [] : [step])));
  const placed = await readMessages(cell, runId, rows);
  const trace = traceIn(placed.filter((each) => finished.has(each.row.step ?? 0)));
  if (row.status === "completed") keepTrace(cell, runId, trace);
  return trace;
}

// The messages of the steps with tool results.
function traceIn(placed: readonly PlacedMessage[]): Message[] {
  const steps = [...Map.groupBy(placed, (each) => each.row.step).values()];
  return steps
    .map(inCallOrder)
    .filter((own) => own.some(({ role }) => role === "tool"))
    .flat();
}

/** Caches the tool trace of a run that has just completed, from all rows of messages that its steps have written. */
export async function cacheTrace(cell: SessionCell, runId: string, written: readonly MessageRow[]): Promise<void> {
  const placed = await messagesOf(cell, written, { withProviderParts: true });
  for (const { message, row } of placed) cell.refs.set(message, row);
  keepTrace(cell, runId, traceIn(placed));
}

// The trace of a finished run never changes. Only a few small ones are cached.
function keepTrace({ traces }: SessionCell, runId: string, trace: readonly Message[]): void {
  if (JSON.stringify(trace).length > mostCharacters) return;
  const [oldest] = traces.keys();
  if (traces.size >= mostTraces && oldest !== undefined) traces.delete(oldest);
  traces.set(runId, deepFreeze(trace));
}

/** Everything recorded of a run, and the calls that wait for approval. */
export interface FoundRun extends RunRecord {
  /** The calls that wait for approval, including those of subagents, as in `result.approvals`. Empty unless the status is `waiting`. */
  readonly approvals: readonly Approval[];
}

/** Everything recorded of a run; undefined if there is no such run. */
export async function readRecord(cells: SessionCells, runId: string): Promise<RunRecord | undefined> {
  const row = await findRun(cells.context, runId);
  const record = row && (await readRun(cells.of(row.session_id), row));
  if (record?.status !== "interrupted") return record;
  // The row is read before the lease: a run that ended in between has another row by now.
  const latest = await findRun(cells.context, runId);
  return latest && latest.status !== row?.status ? readRun(cells.of(latest.session_id), latest) : record;
}

/** The same, with the calls that wait for approval. */
export async function getRun(cells: SessionCells, runId: string): Promise<FoundRun | undefined> {
  const record = await readRecord(cells, runId);
  return record && { ...record, approvals: await approvalsIn(cells, record) };
}

async function approvalsIn(cells: SessionCells, run: RunRecord): Promise<Approval[]> {
  // The notes of a run that was resumed are stale.
  if (run.status !== "waiting") return [];
  const found = await Promise.all(waitingNotes(run).map((note) => approvalsFor(cells, run, note)));
  return found.flat();
}

async function approvalsFor(
  cells: SessionCells,
  run: RunRecord,
  { toolCallId, why, child }: WaitingNote,
): Promise<Approval[]> {
  if (child !== undefined) {
    // Damaged notes could name the run itself or its parent, which would never end.
    const isBeneath = run.children.some(({ runId }) => runId === child.runId);
    const below = isBeneath ? await readRecord(cells, child.runId) : undefined;
    return below === undefined ? [] : approvalsIn(cells, below);
  }
  const call = run.openStep?.pending.find(({ id }) => id === toolCallId)?.function;
  if ((why !== "approval" && why !== "question") || call === undefined) return [];
  const question = why === "question" ? run.openStep?.questions?.[toolCallId] : undefined;
  return [approvalOf({ toolCallId, toolName: call.name, inputText: call.arguments, question }, run)];
}
