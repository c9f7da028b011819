// The journal of a session on a store: opens and resumes runs. The log of an open run is in stored-run.ts.
import { isOffstageError, OffstageError } from "../../errors.ts";
import type { Message } from "../../messages/message.ts";
import {
  type HistoryOptions,
  loadHistory,
  loadHistoryBefore,
  removeTurn,
  touch,
} from "../conversation/conversation.ts";
import { joinRows, readInbox, say } from "../conversation/inbox.ts";
import type { Change, SessionCell, SessionCells } from "../head/session-cell.ts";
import { releaseOrphan, takeLease, whenFree } from "../lease/lease.ts";
import type { Journal, ReopenOptions, RunLog, RunStart } from "../ports/journal.ts";
import { checkLimit } from "../ports/session.ts";
import type { Write } from "../ports/store-driver.ts";
import type { RunRow, SessionRow } from "../ports/tables.ts";
import { findRun, readRecord } from "../records/run-reader.ts";
import { checkId } from "../rows/check-row.ts";
import { notesOf } from "../rows/run-row.ts";
import { changeCalls } from "./change-calls.ts";
import { checkResumable, findToResume, type ResumedRun, readToResume, refuseDamage, reopenRow } from "./resumed-run.ts";
import { beginRun, withSeq } from "./run-life.ts";
import { StoredRun } from "./stored-run.ts";

/** The journal of a session on a store. */
export function storedJournal(cells: SessionCells, sessionId: string): Journal {
  // Closing the store waits for a run that is opening, and then abandons it.
  const expected = (opening: Promise<RunLog>): Promise<RunLog> => {
    cells.context.holds.expect(opening);
    return opening;
  };
  return {
    keepsSpans: true,
    keepsRuns: true,
    keepsInput: cells.context.keepInput !== false,
    namespace: cells.context.rows.namespace,
    scope: cells,
    open: (start) => expected(openRun(cells, sessionId, start)),
    reopen: (runId, options) => expected(reopenRun(cells, sessionId, { ...options, runId })),
    inbox: {
      steer: (messages) => say(cells.of(sessionId), messages, { onlyIfBusy: true }),
      read: (runId) => readRecord(cells, runId),
    },
  };
}

interface Begun {
  readonly row: RunRow;
  readonly fence: number;
  readonly history: readonly Message[];
  readonly earlierCount: number;
  readonly resumed?: ResumedRun;
  /** The messages of the inbox that the run took in. */
  readonly joined?: readonly Message[];
}

/** Thrown if a run with this id is already recorded: it is resumed instead. */
class KnownRun extends Error {}

async function openRun(cells: SessionCells, sessionId: string, start: RunStart): Promise<RunLog> {
  try {
    return await takeSession(cells.of(sessionId), start, (cell, head) => begin(cell, head, start));
  } catch (error) {
    if (error instanceof KnownRun) return reopenRun(cells, sessionId, start);
    throw error;
  }
}

type Reopening = ReopenOptions & { readonly runId: string };

async function reopenRun(cells: SessionCells, sessionId: string, options: Reopening): Promise<RunLog> {
  return takeSession(cells.of(sessionId), options, (cell, head) => reopen(cell, head, options));
}

type Taking = (cell: SessionCell, head: SessionRow) => Promise<Change<Begun>>;

async function takeSession(cell: SessionCell, start: Reopening, taking: Taking): Promise<RunLog> {
  checkLimit(start.historyLimit, "historyLimit");
  const take = async (): Promise<Begun> => {
    const begun = await cell.update("run.begin", (head) => taking(cell, head));
    return { ...begun, row: await withSeq(cell, begun.row) };
  };
  try {
    const { result, release } = await whenFree(cell, start, take);
    return new StoredRun({ cell, ...result, release });
  } catch (error) {
    // After a lost connection the lease may have been acquired.
    if (isOffstageError(error, "store-connection")) cell.context.holds.expect(releaseOrphan(cell, start.runId));
    throw error;
  }
}

// Input, run row and lease are one write.
async function begin(cell: SessionCell, head: SessionRow, start: RunStart): Promise<Change<Begun>> {
  const held = takeLease(cell, head, start);
  const { runId, isFresh = false, refusesKnown = false } = start;
  checkId(runId, "run id");
  if (!isFresh && (await findRun(cell.context, runId, refuseDamage(runId))) !== undefined)
    throw refusesKnown ? runExists(runId) : new KnownRun();
  const earlier = await earlierThan(cell, held, start);
  const { history } = earlier;
  start.signal?.throwIfAborted();
  const { joined, isBlocked, ...taken } = await takeInbox(cell, earlier.head, start);
  const all = isBlocked ? [] : [...joined, ...start.input];
  const begun = beginRun(cell, taken.head, { start: isBlocked ? { ...start, input: [] } : start });
  const { head: next, input } = begun;
  const row = { ...begun.row, input_count: all.length };
  const runs = begun.writes.map((write) => ("row" in write && write.table === "runs" ? { ...write, row } : write));
  const counted = { run_count: head.run_count + 1, last_agent: start.agent, last_status: row.status };
  return {
    result: { row, fence: held.fence, history, earlierCount: earlier.head.message_count, joined },
    head: { ...touch(next, input), ...counted },
    writes: [...earlier.writes, ...taken.writes, ...runs],
    appended: isBlocked ? [] : [...joined, ...input],
    isRewrite: earlier.writes.length > 0,
    isActive: true,
    withNumber: (begun, seq) => ({ ...begun, row: { ...begun.row, seq } }),
  };
}

interface Earlier {
  readonly head: SessionRow;
  readonly writes: readonly Write[];
  readonly history: readonly Message[];
}

// The conversation before the input, without the turn that the input replaces.
async function earlierThan(cell: SessionCell, head: SessionRow, start: RunStart): Promise<Earlier> {
  if (start.replaces === undefined || start.input.length === 0)
    return { head, writes: [], history: await loadHistory(cell, head, start) };
  const removed = await removeTurn(cell, head, start);
  if (removed !== undefined && (removed.runId ?? "") === start.replaces) return removed;
  const sentence = `The newest turn of session "${cell.id}" is no longer the one to replace. Read the conversation again.`;
  throw new OffstageError("session-conflict", sentence);
}

interface TakenInbox {
  readonly head: SessionRow;
  readonly writes: readonly Write[];
  readonly joined: readonly Message[];
  readonly isBlocked: boolean;
}

// Messages that were said since the last run come before the input of this one.
async function takeInbox(cell: SessionCell, head: SessionRow, { join, runId, agent }: RunStart): Promise<TakenInbox> {
  const pending = head.inbox_count === 0 || join === undefined ? [] : await readInbox(cell);
  if (pending.length === 0 || join === undefined) return { head, writes: [], joined: [], isBlocked: false };
  const { messages: joining, isBlocked } = await join(pending);
  const place = { runId, agent, step: undefined, isBlocked };
  return { ...joinRows(cell, head, { joining, place }), joined: joining.map(({ message }) => message), isBlocked };
}

async function reopen(cell: SessionCell, head: SessionRow, options: Reopening): Promise<Change<Begun>> {
  const held = takeLease(cell, head, options);
  const found = await findToResume(cell, options.runId);
  checkResumable(found, { runId: options.runId, sessionId: cell.id });
  const recorded = await readToResume(cell, found);
  const beneath = new Map([...recorded.beneath].map(([runId, { record }]) => [runId, record]));
  const { notes, calls } = (await options.admit?.(recorded.record, beneath)) ?? {};
  const { resumed, writes } = changeCalls(cell, recorded, calls);
  const row: RunRow = {
    ...reopenRow(found),
    ...(notes && { notes: JSON.stringify({ ...notesOf(found), ...notes }) }),
  };
  const { history, laterCount } = await historyBefore(cell, resumed, options);
  options.signal?.throwIfAborted();
  const earlierCount = head.message_count - laterCount;
  const result = { row, fence: held.fence, history, earlierCount, resumed };
  return { result, head: { ...held, last_status: row.status }, writes: [...writes, { table: "runs", row }] };
}

function runExists(runId: string): OffstageError {
  return new OffstageError(
    "run-exists",
    `A run "${runId}" is recorded already. Resume it with agent.resume("${runId}", { store }), or choose another id.`,
  );
}

// The conversation before the input of the run, and how many messages follow. Without input, all of it.
async function historyBefore(
  cell: SessionCell,
  { record, seqs }: ResumedRun,
  options: HistoryOptions,
): Promise<{ readonly history: readonly Message[]; readonly laterCount: number }> {
  const { rows: access } = cell.context;
  const [first] = record.input;
  const seq = first && seqs.get(first);
  const row = seq === undefined ? undefined : await access.get("messages", [cell.id, seq]);
  const from = row?.position ?? Number.MAX_SAFE_INTEGER;
  const later = await access.readRaw("messages", { order: "said", prefix: [cell.id], from });
  return { history: await loadHistoryBefore(cell, from, options), laterCount: later.length };
}
