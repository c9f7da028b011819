// Reads one run: its row, its messages grouped into steps, its calls, the calls that wait for approval, its subagents' runs, and its
// tool trace. Needs no agent.
import type { OffstageError } from "../../errors.ts";
import { type Message, type ToolCall, toolCallsOf } from "../../messages/message.ts";
import { messagesOf } from "../conversation/conversation.ts";
import { liveRun } from "../head/hold.ts";
import type { SessionCell, SessionCells, StoreContext } from "../head/session-cell.ts";
import {
  type Approval,
  approvalOf,
  type OpenStep,
  type QuestionRecord,
  type RetryRecord,
  type RunInfo,
  type RunRecord,
  type StepRecord,
} from "../ports/run-record.ts";
import type { RunRow, SessionRow, StepRow, ToolCallRow } from "../ports/tables.ts";
import { corrupt, type Report } from "../rows/check-row.ts";
import type { PlacedMessage } from "../rows/message-row.ts";
import { deepFreeze } from "../rows/plain-json.ts";
import { readQuestion } from "../rows/question.ts";
import { failedAttemptsOf, readStep, runInfo } from "../rows/run-row.ts";
import { type WaitingNote, waitingNotes } from "./run-notes.ts";

/** The row of a run; undefined if there is none, or if it cannot be read. */
export async function findRun(context: StoreContext, runId: string, report?: Report): Promise<RunRow | undefined> {
  const [row] = await context.rows.read("runs", { order: "id", prefix: [runId], limit: 1, report });
  return row;
}

/** A run as lists show it, under the current head of its session; undefined if its row has an unexpected form, which is reported. */
export function readInfo(
  { rows, report }: Pick<StoreContext, "rows" | "report">,
  row: RunRow,
  head: SessionRow | undefined,
): RunInfo | undefined {
  const info = rows.parse("runs", row, runInfo, report);
  return info?.status === "running" && !isLive(row, head) ? { ...info, status: "interrupted" } : info;
}

function isLive({ root_run_id, run_id }: RunRow, head: SessionRow | undefined): boolean {
  return head !== undefined && liveRun(head) === (root_run_id ?? run_id);
}

/** Everything that is read of a run. */
export interface RunParts {
  readonly row: RunRow;
  readonly messages: readonly PlacedMessage[];
  readonly steps: readonly StepRow[];
  readonly calls: readonly ToolCallRow[];
  readonly children: readonly RunRow[];
}

/** Reads a run; rows that cannot be read are passed to `report`. */
export async function readParts(cell: SessionCell, row: RunRow, report: Report): Promise<RunParts> {
  const { rows: access } = cell.context;
  const prefix = [cell.id, row.run_id];
  const [steps, calls, children] = await Promise.all([
    access.read("steps", { prefix, report }),
    access.read("tool_calls", { prefix, report }),
    // A subagent's run begins after its parent. A damaged row that says otherwise would make readers go in circles.
    access.read("runs", { order: "parent", prefix, from: row.number + 1, report }),
  ]);
  // Read last: the messages of a step are written before it, or with it.
  const messages = await readMessages(cell, row, report);
  return { row, messages, steps, calls, children };
}

async function readMessages(cell: SessionCell, { run_id }: RunRow, report: Report): Promise<PlacedMessage[]> {
  const rows = await cell.context.rows.read("messages", { order: "run", prefix: [cell.id, run_id], report });
  const messages = await messagesOf(cell, rows, { report, withProviderParts: true });
  for (const placed of messages) cell.refs.set(placed.message, placed.row);
  return messages;
}

/** Everything readable that is recorded of a run; undefined if its row has an unexpected form. */
export async function readRun(cell: SessionCell, row: RunRow): Promise<RunRecord | undefined> {
  const { report } = cell.context;
  const [parts, head] = await Promise.all([readParts(cell, row, report), cell.head().catch(reportTo(report))]);
  return recordOf(parts, { rows: cell.context.rows, head, report, name: cell.name });
}

function reportTo(report: Report): (error: unknown) => undefined {
  return (error) => {
    report(error as OffstageError);
    return undefined;
  };
}

export interface RecordOptions extends Pick<StoreContext, "rows"> {
  readonly head: SessionRow | undefined;
  readonly report: Report;
  /** The session, as errors name it. */
  readonly name: string;
}

/** The record of a run; undefined if its row has an unexpected form and `report` does not throw. */
export function recordOf(parts: RunParts, options: RecordOptions): RunRecord | undefined {
  const { row, messages, calls, children } = parts;
  const info = readInfo(options, row, options.head);
  if (info === undefined) return undefined;
  const input = messages.filter((each) => each.row.step === null).map(({ message }) => message);
  const { steps, isIncomplete } = stepsOf(parts, options);
  const openStep = openStepOf(parts, options, steps.at(-1)?.step ?? 0);
  const failedAttempts = readFailedAttempts(parts, options);
  return {
    ...info,
    stepCount: steps.length,
    errorCount: calls.filter(({ status }) => status === "error").length,
    input,
    steps,
    ...(openStep && { openStep }),
    ...(failedAttempts && { failedAttempts }),
    ...((input.length < row.input_count || isIncomplete) && { isIncomplete: true }),
    children: children.flatMap((child) => readInfo(options, child, options.head) ?? []),
  };
}

function readFailedAttempts(
  { steps, row }: RunParts,
  { report, name }: RecordOptions,
): readonly RetryRecord[] | undefined {
  try {
    return failedAttemptsOf(steps);
  } catch (cause) {
    report(corrupt(`the failed attempts of run "${row.run_id}" of ${name}`, cause));
    return undefined;
  }
}

interface Steps {
  readonly steps: readonly StepRecord[];
  /** Some messages of a step are missing. */
  readonly isIncomplete: boolean;
}

function stepsOf({ messages, steps }: RunParts, { report, name }: RecordOptions): Steps {
  let isIncomplete = false;
  const records = steps.flatMap((row): StepRecord[] => {
    const own = messages.filter(({ row: { step } }) => step === row.step);
    try {
      const record = readStep(row);
      if (record === undefined) return [];
      const ordered = inCallOrder(own);
      if (ordered[0]?.role !== "assistant") isIncomplete = true;
      return [{ ...record, messages: ordered }];
    } catch (cause) {
      report(corrupt(`step ${row.step} of run "${row.run_id}" of ${name}`, cause));
      return [];
    }
  });
  return { steps: records, isIncomplete };
}

// The reply first, then results in the order of its calls, then notes.
function inCallOrder(placed: readonly PlacedMessage[]): Message[] {
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

function openStepOf(
  { row, messages, calls }: RunParts,
  { report, name }: RecordOptions,
  lastStep: number,
): OpenStep | undefined {
  const open = messages.filter(({ row: { step } }) => step !== null && step > lastStep);
  const step = Math.max(calls.at(-1)?.step ?? 0, ...open.map(({ row: placed }) => placed.step ?? 0));
  const [message, ...rest] = inCallOrder(open.filter((each) => each.row.step === step));
  if (step <= lastStep) return undefined;
  if (message?.role !== "assistant") {
    report(corrupt(`step ${step} of run "${row.run_id}" of ${name}`, new Error("its calls have no message")));
    return undefined;
  }
  const results = rest.filter((each) => each.role === "tool");
  const settled = new Set(results.map(({ tool_call_id }) => tool_call_id));
  const pending = toolCallsOf(message).filter(({ id }) => !settled.has(id));
  const pendingIds = new Set(pending.map(({ id }) => id));
  const waiting = calls
    .filter((call) => call.step === step && call.status === "waiting" && pendingIds.has(call.call_id))
    .map(({ call_id }) => call_id);
  const questions = questionsIn(
    calls.filter((call) => call.step === step && pendingIds.has(call.call_id)),
    (cause) => report(corrupt(`a question in step ${step} of run "${row.run_id}" of ${name}`, cause)),
  );
  return {
    step,
    message,
    results,
    pending,
    ...(waiting.length > 0 && { waiting }),
    ...(Object.keys(questions).length > 0 && { questions }),
  };
}

function questionsIn(
  calls: readonly ToolCallRow[],
  onDamage: (cause: unknown) => void,
): Readonly<Record<string, QuestionRecord>> {
  const found = calls.flatMap(({ call_id, question }): [string, QuestionRecord][] => {
    try {
      const read = readQuestion(question);
      return read === undefined ? [] : [[call_id, read]];
    } catch (cause) {
      onDamage(cause);
      return [];
    }
  });
  return Object.fromEntries(found);
}

const mostTraces = 64;
const mostCharacters = 8_192;

/** The tool traces of runs, for `toolHistory`: the messages of all steps with tool results that are not part of the conversation, by run id. */
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
  const { rows: access, report } = cell.context;
  const steps = await access.read("steps", { prefix: [cell.id, runId] });
  const messages = await readMessages(cell, row, report);
  const trace = steps.flatMap(({ step, finish_reason }) => {
    const own = finish_reason === null ? [] : messages.filter((each) => each.row.step === step);
    return own.some(({ message }) => message.role === "tool") ? inCallOrder(own) : [];
  });
  if (row.status === "completed") keepTrace(cell, runId, trace);
  return trace;
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
  const pending = new Map(run.openStep?.pending.map((call) => [call.id, call]));
  const found = await Promise.all(waitingNotes(run).map((note) => approvalsFor(cells, { run, pending }, note)));
  return found.flat();
}

interface WaitingRun {
  readonly run: RunRecord;
  /** Its calls without a result, by id. */
  readonly pending: ReadonlyMap<string, ToolCall>;
}

async function approvalsFor(cells: SessionCells, { run, pending }: WaitingRun, note: WaitingNote): Promise<Approval[]> {
  const { toolCallId, why, child } = note;
  if (child !== undefined) {
    // Damaged notes could name the run itself or its parent, which would never end.
    const isBeneath = run.children.some(({ runId }) => runId === child.runId);
    const below = isBeneath ? await readRecord(cells, child.runId) : undefined;
    return below === undefined ? [] : approvalsIn(cells, below);
  }
  const call = pending.get(toolCallId)?.function;
  if ((why !== "approval" && why !== "question") || call === undefined) return [];
  const question = why === "question" ? run.openStep?.questions?.[toolCallId] : undefined;
  return [approvalOf({ toolCallId, toolName: call.name, inputText: call.arguments, question }, run)];
}
