// A run to resume: whether it may be resumed, and its record, which must be whole. Otherwise tool calls might be repeated.
import { OffstageError } from "../../errors.ts";
import { type Message, toolCallsOf } from "../../messages/message.ts";
import type { SessionCell } from "../head/session-cell.ts";
import { isStoppedByLimit, type RunRecord } from "../ports/run-record.ts";
import type { RunRow, ToolCallRow } from "../ports/tables.ts";
import { findRun, type RunParts, readParts, recordOf } from "../records/run-reader.ts";
import { corrupt, type Report } from "../rows/check-row.ts";
import { callStatuses, isOpenCall } from "../rows/run-row.ts";
import { hasEnded } from "./run-life.ts";

/** The row of a run of this session; undefined if there is none. Throws `store-corrupt` if it cannot be read. */
export async function findToResume(cell: SessionCell, runId: string): Promise<RunRow | undefined> {
  const row = await findRun(cell.context, runId, refuseDamage(runId));
  return row?.session_id === cell.id ? row : undefined;
}

/** Throws `store-corrupt` instead of skipping an unreadable row of a run to resume. */
export function refuseDamage(runId: string): Report {
  return (damage) => {
    const message = `Run "${runId}" cannot be resumed because a part of its record cannot be read. ${damage.message} Restore a backup, or start a new run.`;
    throw new OffstageError("store-corrupt", message, { cause: damage });
  };
}

/** The row of a run that is resumed, without its earlier end. */
export function reopenRow(row: RunRow): RunRow {
  return { ...row, status: "running", reason: null, ended_at: null, duration_ms: null, error: null };
}

interface Wanted {
  readonly runId: string;
  readonly sessionId: string;
}

/** Throws `run-not-found` or `run-not-resumable` unless the run exists, is not a subagent's, and has not ended for good. */
export function checkResumable(row: RunRow | undefined, { runId, sessionId }: Wanted): asserts row {
  if (row === undefined) throw new OffstageError("run-not-found", `Session "${sessionId}" has no run "${runId}".`);
  // A subagent's answer belongs to a tool call of its parent, not to the conversation.
  if (row.root_run_id !== null) throw notResumable(row, `belongs to run "${row.root_run_id}". Resume that run`);
  if (hasEnded(row.status) && !isStoppedByLimit(row))
    throw notResumable(
      row,
      `${row.status === "stopped" ? `was stopped (${row.reason})` : "is completed"}. Start a new run`,
    );
}

function notResumable({ run_id }: RunRow, why: string): OffstageError {
  return new OffstageError("run-not-resumable", `Run "${run_id}" cannot be resumed: it ${why}.`);
}

/** A run to resume: its record, and the rows that its log continues from. */
export interface ResumedRun {
  readonly record: RunRecord;
  readonly calls: readonly ToolCallRow[];
  readonly children: readonly RunRow[];
  /** The runs of subagents at all levels, by run id. */
  readonly beneath: ReadonlyMap<string, ResumedRun>;
  /** The reference of the input of the open step. */
  readonly openInput: string | undefined;
  /** The rows of the messages of the record. */
  readonly seqs: ReadonlyMap<Message, number>;
  /** The identities of the messages that joined the conversation, such as a partial answer when a limit stopped the run. */
  readonly said: ReadonlySet<string>;
  /** The messages that are not part of the conversation. */
  readonly done: readonly { readonly seq: number; readonly step: number; readonly message: Message }[];
}

/**
 * Everything recorded of a run to resume. Throws `store-corrupt` if a part of it, or of a subagent's run, cannot be read, because
 * tool calls might then be repeated.
 */
export async function readToResume(cell: SessionCell, row: RunRow): Promise<ResumedRun> {
  const report = refuseDamage(row.run_id);
  const rows = cell.context.rows.reporting(report);
  const [parts, head] = await Promise.all([readParts(cell, row, rows), cell.head()]);
  const record = recordOf(parts, rows, head) as RunRecord;
  checkWhole(parts, record, (step, problem) =>
    report(corrupt(`step ${step} of run "${row.run_id}" of ${cell.name}`, new Error(problem))),
  );
  const beneath = new Map<string, ResumedRun>();
  for (const child of parts.children) {
    const run = await readToResume(cell, child);
    beneath.set(child.run_id, run);
    for (const [runId, below] of run.beneath) beneath.set(runId, below);
  }
  const { messages, calls, children, steps } = parts;
  const openInput = steps.find(({ step }) => step === record.openStep?.step)?.input_ref ?? undefined;
  const done = messages.flatMap(({ message, row: { position, seq, step } }) =>
    position === null && step !== null ? [{ seq, step, message }] : [],
  );
  return {
    record,
    calls,
    children,
    beneath,
    done,
    said: new Set(messages.flatMap(({ row: { position }, identity }) => (position === null ? [] : (identity ?? [])))),
    openInput,
    seqs: new Map(messages.map((each) => [each.message, each.row.seq])),
  };
}

// Throws unless everything is there that resuming relies on: without it, calls might run twice.
function checkWhole(
  { row, calls, children }: RunParts,
  record: RunRecord,
  refuse: (step: number, problem: string) => void,
): void {
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
    if (own.some(({ call_id, status }) => !isOpenCall(status) && !results.has(call_id)))
      refuse(step, "a result is missing");
    if (step !== openStep?.step && ids.some((id) => !results.has(id))) refuse(step, "a result is missing");
  }
}
