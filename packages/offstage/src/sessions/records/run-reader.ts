// Reads one run: its row, its messages grouped into steps, its calls, and its subagents' runs.
import { OffstageError } from "../../errors.ts";
import { type Message, toolCallsOf } from "../../messages/message.ts";
import { messagesOf, type PlacedMessage } from "../conversation/read-messages.ts";
import { isAbandoned } from "../head/hold.ts";
import type { SessionCell } from "../head/session-cell.ts";
import type { StoreContext } from "../head/store-context.ts";
import type { OpenStep, RunInfo, RunRecord, StepRecord } from "../ports/run-record.ts";
import type { RunRow, SessionRow, StepRow, ToolCallRow } from "../ports/tables.ts";
import { corrupt, type Report } from "../rows/check-row.ts";
import { readStep, runInfo } from "../rows/run-row.ts";

/** The row of a run; undefined if there is none, or if it cannot be read. */
export async function findRun(context: StoreContext, runId: string, report?: Report): Promise<RunRow | undefined> {
  const [row] = await context.rows.read("runs", { order: "id", prefix: [runId], limit: 1, report });
  return row;
}

/** The row of a run of this session; undefined if there is none. Throws `store-corrupt` if it cannot be read. */
export async function findToResume(cell: SessionCell, runId: string): Promise<RunRow | undefined> {
  const row = await findRun(cell.context, runId, refusing(runId));
  return row?.session_id === cell.id ? row : undefined;
}

/** Throws `store-corrupt` instead of skipping an unreadable row of a run to resume. */
export function refusing(runId: string): Report {
  return (damage) => {
    const message = `Run "${runId}" cannot be resumed because a part of its record cannot be read. ${damage.message} Restore a backup, or start a new run.`;
    throw new OffstageError("store-corrupt", message, { cause: damage });
  };
}

/** A run as lists show it, under the current head of its session. */
function infoOf(row: RunRow, head: SessionRow | undefined): RunInfo {
  const info = runInfo(row);
  return info.status === "running" && !isLive(row, head) ? { ...info, status: "interrupted" } : info;
}

/** The same; undefined if the row has an unexpected form, which is reported. */
export function readInfo(
  { rows, report }: Pick<StoreContext, "rows" | "report">,
  row: RunRow,
  head: SessionRow | undefined,
): RunInfo | undefined {
  try {
    return infoOf(row, head);
  } catch (cause) {
    report(corrupt(rows.nameOf("runs", row), cause));
    return undefined;
  }
}

function isLive({ root_run_id, run_id }: RunRow, head: SessionRow | undefined): boolean {
  if (head?.lease_run !== (root_run_id ?? run_id) || head.lease_holder === null) return false;
  return !isAbandoned(head.lease_holder, head.lease_seen ?? 0);
}

/** Everything that is read of a run. */
interface RunParts {
  readonly row: RunRow;
  readonly messages: readonly PlacedMessage[];
  readonly steps: readonly StepRow[];
  readonly calls: readonly ToolCallRow[];
  readonly children: readonly RunRow[];
}

async function readParts(cell: SessionCell, row: RunRow, report: Report): Promise<RunParts> {
  const { rows: access } = cell.context;
  const prefix = [cell.id, row.run_id];
  const [steps, calls, children] = await Promise.all([
    access.read("steps", { prefix, report }),
    access.read("tool_calls", { prefix, report }),
    // A subagent's run begins after its parent. A damaged row that says otherwise would make readers go in circles.
    access.read("runs", { order: "parent", prefix, from: row.number + 1, report }),
  ]);
  // Read last: the messages of a step are written before it, or with it.
  const rows = await access.read("messages", { order: "run", prefix, report });
  const messages = await messagesOf(cell, rows, { report, withProviderParts: true });
  return { row, messages, steps, calls, children };
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

/** A run to resume: its record, and the rows that its log continues from. */
export interface ResumedRun {
  readonly record: RunRecord;
  readonly calls: readonly ToolCallRow[];
  readonly children: readonly RunRow[];
  /** The reference of the input of the open step. */
  readonly openInput: string | undefined;
  /** The rows of the messages of the record. */
  readonly seqs: ReadonlyMap<Message, number>;
  /** The messages that are not part of the conversation. */
  readonly done: readonly { readonly seq: number; readonly step: number; readonly message: Message }[];
}

/**
 * Everything recorded of a run to resume. Throws `store-corrupt` if a part of it, or of a subagent's run, cannot be read, because
 * tool calls might then be repeated.
 */
export async function readToResume(cell: SessionCell, row: RunRow): Promise<ResumedRun> {
  const report = refusing(row.run_id);
  const [parts, head] = await Promise.all([readParts(cell, row, report), cell.head()]);
  const options = { rows: cell.context.rows, head, report, name: cell.name };
  const record = recordOf(parts, options) as RunRecord;
  checkWhole(parts, record, options);
  for (const child of parts.children) await readToResume(cell, child);
  const { messages, calls, children, steps } = parts;
  const openInput = steps.find(({ step }) => step === record.openStep?.step)?.input_ref ?? undefined;
  const done = messages.flatMap(({ message, row: { position, seq, step } }) =>
    position === null && step !== null ? [{ seq, step, message }] : [],
  );
  for (const { message, row: placed } of messages)
    cell.refs.set(message, placed.position === null ? `m${placed.seq}` : `p${placed.position}`);
  return {
    record,
    calls,
    children,
    done,
    openInput,
    seqs: new Map(messages.map((each) => [each.message, each.row.seq])),
  };
}

interface RecordOptions extends Pick<StoreContext, "rows"> {
  readonly head: SessionRow | undefined;
  readonly report: Report;
  /** The session, as errors name it. */
  readonly name: string;
}

// Undefined only if `report` does not throw.
function recordOf(parts: RunParts, options: RecordOptions): RunRecord | undefined {
  const { row, messages, calls, children } = parts;
  const info = readInfo(options, row, options.head);
  if (info === undefined) return undefined;
  const input = messages.filter((each) => each.row.step === null).map(({ message }) => message);
  const { steps, isIncomplete } = stepsOf(parts, options);
  const openStep = openStepOf(parts, options, steps.at(-1)?.step ?? 0);
  return {
    ...info,
    stepCount: steps.length,
    errorCount: calls.filter(({ status }) => status === "error").length,
    input,
    steps,
    ...(openStep && { openStep }),
    ...((input.length < row.input_count || isIncomplete) && { isIncomplete: true }),
    children: children.flatMap((child) => readInfo(options, child, options.head) ?? []),
  };
}

// Throws unless everything is there that resuming relies on: without it, calls might run twice.
function checkWhole({ row, calls, children }: RunParts, record: RunRecord, { report, name }: RecordOptions): void {
  const refuse = (step: number, problem: string): void =>
    report(corrupt(`step ${step} of run "${row.run_id}" of ${name}`, new Error(problem)));
  const { steps, openStep } = record;
  if (record.input.length < row.input_count && row.parent_run_id !== null) refuse(0, "its input is missing");
  if (steps.length < row.step_count || steps.some(({ step }, index) => step !== index + 1))
    refuse(row.step_count, "a step is missing");
  const known = new Set(children.map(({ run_id }) => run_id));
  for (const { step, child_run_id, status } of calls) {
    if (!callStatuses.includes(status)) refuse(step, `a call has the unknown status "${status}"`);
    if (child_run_id !== null && !known.has(child_run_id))
      refuse(step, `the run "${child_run_id}" of a call is missing`);
  }
  const all = [
    ...steps,
    ...(openStep ? [{ step: openStep.step, messages: [openStep.message, ...openStep.results] }] : []),
  ];
  for (const { step, messages } of all) {
    const [reply, ...rest] = messages;
    const own = calls.filter((call) => call.step === step);
    const ids = reply === undefined ? [] : toolCallsOf(reply).map(({ id }) => id);
    const results = new Set(rest.flatMap((each) => (each.role === "tool" ? each.tool_call_id : [])));
    if (ids.length !== own.length || own.some(({ call_id }, index) => call_id !== ids[index]))
      refuse(step, "its calls and its reply differ");
    if (own.some(({ call_id, status }) => !openStatuses.includes(status) && !results.has(call_id)))
      refuse(step, "a result is missing");
    if (step !== openStep?.step && ids.some((id) => !results.has(id))) refuse(step, "a result is missing");
  }
}

const openStatuses: readonly string[] = ["intended", "waiting"];
const callStatuses: readonly string[] = [...openStatuses, "ok", "error", "interrupted", "rejected"];

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
  const messages = [...new Map(placed.map(({ message }) => [keyOf(message), message])).values()];
  const reply = messages.find(({ role }) => role === "assistant");
  const order = new Map((reply ? toolCallsOf(reply) : []).map(({ id }, index) => [id, index]));
  const rank = (message: Message): number => {
    if (message === reply) return -1;
    return message.role === "tool" ? (order.get(message.tool_call_id) ?? order.size) : order.size + 1;
  };
  return messages.sort((a, b) => rank(a) - rank(b));
}

// A conversation that was replaced by copies of its messages has them twice.
function keyOf(message: Message): unknown {
  return message.metadata?.id === undefined ? message : `${message.metadata.id} ${toolCallsOf(message).length}`;
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
  const waiting = calls
    .filter((call) => call.step === step && call.status === "waiting" && pending.some(({ id }) => id === call.call_id))
    .map(({ call_id }) => call_id);
  return { step, message, results, pending, ...(waiting.length > 0 && { waiting }) };
}
