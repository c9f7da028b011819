// The rows of a run that begins, how its row changes when it ends, whether its end is refused, and how its answer is told from the
// messages of its last step.
import { type Message, withMetadata } from "../../messages/message.ts";
import { subtractUsage, type Usage } from "../../tokens/usage.ts";
import { appendRows } from "../conversation/conversation.ts";
import type { Change, SessionCell } from "../head/session-cell.ts";
import { isAskedToStop } from "../lease/lease.ts";
import type { EndRefusal, NewRun, RunEnd } from "../ports/journal.ts";
import type { Write } from "../ports/store-driver.ts";
import type { RunRow, SessionRow } from "../ports/tables.ts";
import { findRun } from "../records/run-reader.ts";
import { identityOf } from "../rows/message-row.ts";
import { frozenCopy } from "../rows/plain-json.ts";
import { isoTime, jsonOrNull, newRunRow, notesOf, type Totals, tokenColumns } from "../rows/run-row.ts";

/** True if a run has ended: no process will resume it by itself. */
export function hasEnded(status: string): boolean {
  return status === "completed" || status === "stopped";
}

/** The usage of a run by itself, and of its subagents. */
export interface Used {
  /** The cost of the run's finished steps; undefined if one of them has no price. */
  readonly stepCost: number | undefined;
  readonly beneath: readonly Totals[];
}

/** The row of a run that ends. Its own tokens are the total without those of its subagents. */
export function endRun(row: RunRow, end: RunEnd, used: Used): RunRow {
  const { status, reason, stopReason, model, provider, usage, cost, endedAt, error, notes } = end;
  const ended_at = isoTime(endedAt);
  const own = tokenColumns(ownUsage(usage, used.beneath), ownCost(cost, used));
  const isAllOwn = used.beneath.length === 0 && own.cost_usd === (cost ?? null);
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
function ownCost(cost: number | undefined, { stepCost, beneath }: Used): number | undefined {
  if (cost === undefined || beneath.some((child) => child.cost === undefined)) return stepCost;
  if (beneath.length === 0) return cost;
  const own = beneath.reduce((rest, child) => rest - (child.cost ?? 0), cost);
  // Rounded, because differences of sums have tiny errors.
  return Math.max(0, Math.round(own * 1e12) / 1e12);
}

function ownUsage(usage: Usage, beneath: readonly Totals[]): Usage {
  return beneath.reduce((own, child) => subtractUsage(own, child.usage), usage);
}

export interface BeginOptions {
  readonly start: NewRun;
  /** For a subagent's run: the outermost run. Its input is then part of what was done. */
  readonly rootRunId?: string | undefined;
}

export interface BegunRun {
  readonly row: RunRow;
  readonly head: SessionRow;
  readonly writes: Write[];
  /** The input as it is stored. */
  readonly input: readonly Message[];
}

/** The row with the number that the store issued. If the reply of the write was lost, the row is read. */
export async function withSeq(cell: SessionCell, row: RunRow): Promise<RunRow> {
  return row.seq > 0 ? row : ((await findRun(cell.context, row.run_id)) ?? row);
}

/** The rows of a run that begins, under a head, and the head after them. */
export function beginRun(cell: SessionCell, head: SessionRow, { start, rootRunId }: BeginOptions): BegunRun {
  const { redact } = cell.context;
  const run = { runId: start.runId, agent: start.agent, step: undefined };
  const isSaid = rootRunId === undefined;
  const added = start.input.map((given) => {
    const message = frozenCopy(redact === undefined ? given : redact(given));
    return { message, given, run, isSaid };
  });
  const appended = appendRows(cell, head, added);
  const number = head.next_run;
  const row = newRunRow(start, { namespace: cell.namespace, session_id: cell.id, number, rootRunId });
  return {
    row,
    head: { ...appended.head, next_run: number + 1 },
    writes: [...appended.writes, { table: "runs", row, numbered: "seq" }],
    input: added.map(({ message }) => message),
  };
}

/**
 * Refuses an end. A run that was asked to stop does not end in another way, because `stop` has returned true; an abort
 * or a failure is an end too. A run does not answer before it has seen what was said meanwhile.
 */
export function refusalOf(
  head: SessionRow,
  { status, reason, leavesInbox }: RunEnd,
): Change<EndRefusal | undefined> | undefined {
  const isAlreadyCut = status === "failed" || reason === "stop-requested" || reason === "aborted";
  if (isAskedToStop(head) && !isAlreadyCut) return { result: "stop" };
  return status === "completed" && head.inbox_count > 0 && !leavesInbox ? { result: "inbox" } : undefined;
}

/** The sum of the known costs. Undefined if none is known; without steps nothing was spent. */
export function sumOf(costs: readonly (number | undefined)[]): number | undefined {
  const known = costs.filter((cost) => cost !== undefined);
  return known.length === 0 && costs.length > 0 ? undefined : known.reduce((sum, cost) => sum + cost, 0);
}

/** True if a message of the answer is also one of the last step: they are one object, or have the same id and calls. */
export function isSame(answer: Message, message: Message): boolean {
  const identity = identityOf(answer);
  return answer === message || (identity !== undefined && identity === identityOf(message));
}

/** The messages that the conversation does not have yet, each once: a message has one row, and its row has one position. */
export function withoutSaid(answer: readonly Message[], known: ReadonlySet<string> = new Set()): readonly Message[] {
  const said = new Set(known);
  return answer.filter((message) => {
    const identity = identityOf(message);
    if (identity === undefined) return true;
    const isNew = !said.has(identity);
    said.add(identity);
    return isNew;
  });
}

/** Two copies of a message have one row. */
export function copyRef({ refs }: SessionCell, from: Message, to: Message): void {
  const ref = refs.get(from);
  if (ref !== undefined) refs.set(to, ref);
}

/** The answer as it joins the conversation, with the provider's parts of its reply, which only the record of the run has. */
export function withProviderParts(answer: Message, { metadata }: Message): Message {
  const providerParts = metadata?.providerParts;
  return providerParts === undefined ? answer : withMetadata(answer, { providerParts });
}
