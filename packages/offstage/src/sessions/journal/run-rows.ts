// The row of a run: how it begins with its input, how it is resumed, and how it ends with its answer.

import { frozenCopy } from "../../base/json.ts";
import { type Message, withMetadata } from "../../messages/message.ts";
import { subtractUsage } from "../../tokens/usage.ts";
import { putMessages, storedForm } from "../conversation/conversation.ts";
import type { Change, SessionCell } from "../head/session-cell.ts";
import { isAskedToStop } from "../lease/lease.ts";
import type { EndRefusal, NewRun, RunEnd } from "../ports/journal.ts";
import type { StepRecord } from "../ports/run-record.ts";
import type { RunRow, SessionRow } from "../ports/tables.ts";
import { findRun, readMessages } from "../records/run-reader.ts";
import { identityOf, type PlacedMessage, type RowRef } from "../rows/message-row.ts";
import { isoTime, jsonOrNull, newRunRow, notesOf, type Totals, tokenColumns } from "../rows/run-row.ts";
import { nameOf, type PutOptions, type StepOwner } from "./step-rows.ts";

/** True if a run has ended: no process will resume it by itself. */
export function hasEnded(status: string): boolean {
  return status === "completed" || status === "stopped";
}

/** A run that begins. */
export interface NewRunRow {
  /** The store sets its `seq`. */
  row: RunRow;
  /** The input as it is stored. */
  readonly input: readonly Message[];
}

export interface NewRunOptions {
  /** For a subagent's run: the outermost run. Its input is then part of what was done, not of the conversation. */
  readonly rootRunId?: string;
  /** The number of messages of the inbox that are part of its input. */
  readonly joined?: number;
}

/** Puts the row of a run that begins, and its input. */
export function putNewRun(
  cell: SessionCell,
  change: Change,
  start: NewRun,
  { rootRunId, joined = 0 }: NewRunOptions,
): NewRunRow {
  const run = { runId: start.runId, agent: start.agent, step: undefined };
  const isSaid = rootRunId === undefined;
  const added = start.input.map((given) => ({ message: storedForm(cell, given), given, run, isSaid }));
  putMessages(cell, change, added);
  const number = change.head.next_run;
  change.head = { ...change.head, next_run: number + 1 };
  const place = { namespace: cell.namespace, session_id: cell.id, number, rootRunId };
  const row = { ...newRunRow(start, place), input_count: joined + added.length };
  change.writes.push({ table: "runs", row, numbered: "seq" });
  const begun: NewRunRow = { row, input: added.map(({ message }) => message) };
  change.onStored.push((seq = 0) => {
    begun.row = { ...row, seq };
  });
  return begun;
}

/** The row with the number that the store issued. If the reply of the write was lost, the row is read. */
export async function withSeq(cell: SessionCell, row: RunRow): Promise<RunRow> {
  return row.seq > 0 ? row : ((await findRun(cell.context, row.run_id)) ?? row);
}

/** The row of a run that is resumed, without its earlier end. */
export function reopenRow(row: RunRow): RunRow {
  return { ...row, status: "running", reason: null, ended_at: null, duration_ms: null, error: null };
}

/** The usage of a run by itself, and of its subagents. */
export interface Used {
  /** The costs of the run's finished steps. */
  readonly stepCosts: readonly (number | undefined)[];
  readonly beneath: readonly Totals[];
}

/** The row of a run that ends. Its own tokens are the total without those of its subagents. */
export function endRun(row: RunRow, end: RunEnd, used: Used): RunRow {
  const { status, reason, stopReason, model, provider, usage, cost, endedAt, error, notes } = end;
  const { beneath } = used;
  const ended_at = isoTime(endedAt);
  const ownUsage = beneath.reduce((rest, child) => subtractUsage(rest, child.usage), usage);
  const own = tokenColumns(ownUsage, ownCost(cost, used));
  const isAllOwn = beneath.length === 0 && own.cost_usd === (cost ?? null);
  return {
    ...row,
    status,
    reason,
    ...(stopReason !== undefined && { stop_requested: stopReason }),
    // Another one than in the beginning, if the run fell back on it or a function chose it.
    ...(model !== undefined && { model, provider: provider ?? null }),
    ...own,
    totals: isAllOwn ? null : JSON.stringify({ usage, cost }),
    ended_at,
    duration_ms: Math.max(0, Date.parse(ended_at) - Date.parse(row.started_at)),
    // The error of an earlier end no longer applies.
    error: jsonOrNull(error),
    notes: notes === undefined ? row.notes : JSON.stringify({ ...notesOf(row), ...notes }),
  };
}

// The total without the subagents. If the price of a subagent is unknown, the steps tell it, as far as they are finished.
function ownCost(cost: number | undefined, { stepCosts, beneath }: Used): number | undefined {
  if (cost === undefined || beneath.some((child) => child.cost === undefined)) {
    const known = stepCosts.filter((each) => each !== undefined);
    // Without steps nothing was spent.
    if (known.length === 0 && stepCosts.length > 0) return undefined;
    return known.reduce((sum, each) => sum + each, 0);
  }
  if (beneath.length === 0) return cost;
  const own = beneath.reduce((rest, child) => rest - (child.cost ?? 0), cost);
  // Rounded, because differences of sums have tiny errors.
  return Math.max(0, Math.round(own * 1e12) / 1e12);
}

/**
 * Tells why a run may not end now. A run that was asked to stop does not end in another way, because `stop` has returned true; an abort
 * or a failure is an end too. A run does not answer before it has seen what was said meanwhile.
 */
export function refusalOf(head: SessionRow, { status, reason, leavesInbox }: RunEnd): EndRefusal | undefined {
  const isAlreadyCut = status === "failed" || reason === "stop-requested" || reason === "aborted";
  if (isAskedToStop(head) && !isAlreadyCut) return "stop";
  return status === "completed" && head.inbox_count > 0 && !leavesInbox ? "inbox" : undefined;
}

/** The answer of a run. */
export interface Answer {
  readonly messages: readonly Message[];
  /** The last step, if it is written with the answer. */
  readonly lastStep: StepRecord | undefined;
}

export interface AnswerOptions extends Pick<PutOptions, "step" | "redact"> {
  readonly run: Omit<StepOwner, "step">;
}

/**
 * Puts the messages of an answer that the conversation does not have yet: a message has one row, and its row has one position. Returns
 * those of the last step that were put.
 */
export async function putAnswer(
  cell: SessionCell,
  change: Change,
  { messages, lastStep }: Answer,
  { step, run, redact }: AnswerOptions,
): Promise<ReadonlySet<Message>> {
  const nameIn = (message: Message) => identityOf(message) ?? message;
  const inSteps = new Map<unknown, Message>(lastStep?.messages.map((each) => [nameIn(each), each]));
  const isEarlier = (given: Message) => identityOf(given) !== undefined && !inSteps.has(nameIn(given));
  const earlier = messages.some(isEarlier) ? await readMessages(cell, run.runId, cell.context.rows) : [];
  const placed = new Map<unknown, PlacedMessage>(earlier.map((each) => [each.identity, each]));
  const appended = new Map<unknown, Message>();
  const said = new Set<Message>();
  for (const given of messages) {
    const name = nameIn(given);
    const { row, message: before } = placed.get(name) ?? {};
    if (appended.has(name) || typeof row?.position === "number") continue;
    const inStep = inSteps.get(name);
    const open = inStep && step.messages.get(nameOf(inStep) ?? "");
    const seq = row?.seq ?? (open && cell.refs.get(open)?.seq);
    const owner = { ...run, step: row?.step ?? (inStep === undefined ? 0 : (lastStep?.step ?? 0)) };
    const message = frozenCopy(redact?.(given) ?? given);
    // The record of the run, and only that, has the provider's parts of a reply.
    const { providerParts } = (before ?? (inStep && (redact?.(inStep) ?? inStep)))?.metadata ?? {};
    const whole = providerParts === undefined ? message : withMetadata(message, { providerParts });
    putMessages(cell, change, [{ message: whole, given, run: owner, isSaid: true, seq }]);
    const ref = cell.refs.get(given) as RowRef;
    for (const copy of inStep === undefined ? [message] : [message, inStep]) cell.refs.set(copy, ref);
    appended.set(name, message);
    if (inStep !== undefined) said.add(inStep);
  }
  change.appended = [...appended.values()];
  return said;
}
