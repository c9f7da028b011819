// A run to resume: whether it may be resumed, its record, which must be whole, because tool calls might be repeated otherwise, and what
// a person decided about its calls.
import { OffstageError } from "../../errors.ts";
import { toolCallsOf, withEditedCall } from "../../messages/message.ts";
import { corrupt, type Report } from "../head/namespace-rows.ts";
import type { Change, SessionCell } from "../head/session-cell.ts";
import type { CallChange } from "../ports/journal.ts";
import { isStoppedByLimit, type RunRecord } from "../ports/run-record.ts";
import type { RunRow } from "../ports/tables.ts";
import { findRun, type RunParts, readParts, recordOf } from "../records/run-reader.ts";
import { callStatuses, isOpenCall } from "../rows/run-row.ts";
import { hasEnded } from "./run-rows.ts";
import { applyChange, decidedCall, newStep, type OpenStep, putStepChange, redactedEdit } from "./step-rows.ts";

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

/** A run to resume: its record, and the rows that its log continues from. The session cell knows the rows of its messages. */
export interface ResumedRun {
  readonly record: RunRecord;
  /** The step under way. */
  readonly step: OpenStep;
  readonly children: readonly RunRow[];
  /** The runs of subagents at all levels, by run id. */
  readonly beneath: ReadonlyMap<string, ResumedRun>;
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
  return { record, step: stepUnderWay(parts, record), children: parts.children, beneath };
}

function stepUnderWay({ calls, steps }: RunParts, { openStep }: RunRecord): OpenStep {
  if (openStep === undefined) return newStep();
  const { step, message, results } = openStep;
  const inputRef = steps.find((row) => row.step === step)?.input_ref ?? undefined;
  const own = calls.filter((call) => call.step === step);
  return { ...newStep({ messages: [message, ...results], calls: own }), inputRef };
}

/** Puts what a person decided about the calls of a run and of the runs beneath it. Returns the run to resume as it is then. */
export function changeCalls(
  cell: SessionCell,
  change: Change,
  resumed: ResumedRun,
  decisions: readonly CallChange[] = [],
): ResumedRun {
  for (const run of resumed.beneath.values()) changeOwnCalls(cell, change, run, decisions);
  return changeOwnCalls(cell, change, resumed, decisions);
}

function changeOwnCalls(
  cell: SessionCell,
  change: Change,
  run: ResumedRun,
  decisions: readonly CallChange[],
): ResumedRun {
  const { runId, agent, openStep } = run.record;
  if (openStep === undefined) return run;
  const { redact } = cell.context;
  const own = { step: run.step, run: { runId, agent, step: openStep.step }, redact: undefined };
  let message = openStep.message;
  const decided = new Set<string>();
  for (const decision of decisions) {
    if (decision.runId !== runId) continue;
    const { toolCallId, editedInput } = decision;
    if (editedInput !== undefined) message = redactedEdit(redact, withEditedCall(message, toolCallId, editedInput));
    const { calls } = decidedCall(run.step, decision, { reply: message, stored: message, redact });
    applyChange(run.step, { calls });
    decided.add(toolCallId);
  }
  const messages = message === openStep.message ? [] : [message];
  const calls = [...run.step.calls.values()].filter(({ call_id }) => decided.has(call_id));
  putStepChange(cell, change, { messages, calls }, own);
  return { ...run, record: { ...run.record, openStep: { ...openStep, message } } };
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
