// The journal of a session on a store: acquires the session, and begins or resumes a run. The log of an open run is in stored-run.ts.
import { isOffstageError, OffstageError } from "../../errors.ts";
import type { Message } from "../../messages/message.ts";
import {
  type HistoryOptions,
  loadHistory,
  loadHistoryBefore,
  removeTurn,
  touch,
} from "../conversation/conversation.ts";
import { joinMessages, readInbox, say } from "../conversation/inbox.ts";
import { checkId } from "../head/namespace-rows.ts";
import type { Change, SessionCell, SessionCells } from "../head/session-cell.ts";
import { Lease, releaseOrphan, takeLease, whenFree } from "../lease/lease.ts";
import type { Journal, ReopenOptions, RunLog, RunStart } from "../ports/journal.ts";
import type { RunRow } from "../ports/tables.ts";
import { findRun, readRecord } from "../records/run-reader.ts";
import { notesOf } from "../rows/run-row.ts";
import {
  changeCalls,
  checkResumable,
  findToResume,
  type ResumedRun,
  readToResume,
  refuseDamage,
} from "./resumed-run.ts";
import { putNewRun, reopenRow, withSeq } from "./run-rows.ts";
import { StoredRun, type StoredRunOptions } from "./stored-run.ts";

/** The journal of a session on a store. */
export function storedJournal(cells: SessionCells, sessionId: string): Journal {
  const { keepInput, rows, writer } = cells.context;
  // Closing the store waits for a run that is opening, and then abandons it.
  const open = (start: Start): Promise<RunLog> => {
    const opening = takeSession(cells.of(sessionId), start);
    writer.expect(opening);
    return opening;
  };
  return {
    keepsSpans: true,
    keepsRuns: true,
    keepsInput: keepInput !== false,
    namespace: rows.namespace,
    scope: cells,
    open,
    reopen: (runId, options) => open({ ...options, runId }),
    inbox: {
      steer: (messages) => say(cells.of(sessionId), messages, true),
      read: (runId) => readRecord(cells, runId),
    },
  };
}

/** A run to resume. */
type Reopening = ReopenOptions & { readonly runId: string };
type Start = RunStart | Reopening;

async function takeSession(cell: SessionCell, start: Start): Promise<RunLog> {
  try {
    return await whenFree(cell, start, (admitNext) => openRun(cell, start, admitNext));
  } catch (error) {
    // After a lost connection the lease may have been acquired.
    if (isOffstageError(error, "store-connection")) cell.context.writer.expect(releaseOrphan(cell, start.runId));
    throw error;
  }
}

// Input, row of the run and lease are one write.
async function openRun(cell: SessionCell, start: Start, admitNext: () => void): Promise<RunLog> {
  const { runId } = start;
  const { run, fence, ...opened } = await cell.update("run.begin", async (change) => {
    change.head = takeLease(cell, change.head, start);
    const { fence } = change.head;
    const isKnown = !("input" in start) || (await isRecorded(cell, start));
    return { fence, ...(isKnown ? await reopen(cell, change, start) : await begin(cell, change, start)) };
  });
  const row = await withSeq(cell, run.row);
  const lease = new Lease(cell, { runId, fence }, admitNext);
  return new StoredRun(cell, { ...opened, row, lease, held: { place: admitNext, runId } });
}

interface Opened extends Pick<StoredRunOptions, "history" | "earlierCount" | "resumed" | "joined"> {
  readonly run: { readonly row: RunRow };
}

// A run that is recorded already is resumed instead.
async function isRecorded(cell: SessionCell, { runId, isFresh, refusesKnown }: RunStart): Promise<boolean> {
  checkId(runId, "run id");
  if (isFresh || (await findRun(cell.context, runId, refuseDamage(runId))) === undefined) return false;
  if (!refusesKnown) return true;
  throw new OffstageError(
    "run-exists",
    `A run "${runId}" is recorded already. Resume it with agent.resume("${runId}", { store }), or choose another id.`,
  );
}

async function begin(cell: SessionCell, change: Change, start: RunStart): Promise<Opened> {
  const { replaces, input, agent, signal } = start;
  const isReplacing = replaces !== undefined && input.length > 0;
  const history = isReplacing
    ? await replaceTurn(cell, change, { ...start, replaces })
    : await loadHistory(cell, change.head, start);
  const earlierCount = change.head.message_count;
  signal?.throwIfAborted();
  const { joined, isBlocked } = await takeInbox(cell, change, start);
  const run = putNewRun(cell, change, isBlocked ? { ...start, input: [] } : start, {
    joined: isBlocked ? 0 : joined.length,
  });
  touch(change, run.input);
  change.head = {
    ...change.head,
    run_count: change.head.run_count + 1,
    last_agent: agent,
    last_status: run.row.status,
  };
  if (!isReplacing) change.appended = isBlocked ? [] : [...joined, ...run.input];
  return { run, history, earlierCount, joined };
}

// Removes the turn that the input replaces. Returns the conversation before it.
async function replaceTurn(
  cell: SessionCell,
  change: Change,
  start: RunStart & { readonly replaces: string },
): Promise<readonly Message[]> {
  const removed = await removeTurn(cell, change, start);
  if (removed !== undefined && (removed.runId ?? "") === start.replaces) return removed.history;
  const sentence = `The newest turn of session "${cell.id}" is no longer the one to replace. Read the conversation again.`;
  throw new OffstageError("session-conflict", sentence);
}

interface TakenInbox {
  readonly joined: readonly Message[];
  readonly isBlocked: boolean;
}

// Messages that were said since the last run come before the input of this one.
async function takeInbox(cell: SessionCell, change: Change, { join, runId, agent }: RunStart): Promise<TakenInbox> {
  const pending = change.head.inbox_count === 0 || join === undefined ? [] : await readInbox(cell);
  if (pending.length === 0 || join === undefined) return { joined: [], isBlocked: false };
  const { messages: joining, isBlocked } = await join(pending);
  joinMessages(cell, change, joining, { runId, agent, step: undefined, isBlocked });
  return { joined: joining.map(({ message }) => message), isBlocked };
}

async function reopen(cell: SessionCell, change: Change, options: Reopening): Promise<Opened> {
  const { runId, admit, signal } = options;
  const found = await findToResume(cell, runId);
  checkResumable(found, { runId, sessionId: cell.id });
  const recorded = await readToResume(cell, found);
  const beneath = new Map([...recorded.beneath].map(([id, { record }]) => [id, record]));
  const { notes, calls } = (await admit?.(recorded.record, beneath)) ?? {};
  const resumed = changeCalls(cell, change, recorded, calls);
  const merged = notes && { notes: JSON.stringify({ ...notesOf(found), ...notes }) };
  const row: RunRow = { ...reopenRow(found), ...merged };
  change.writes.push({ table: "runs", row });
  change.head = { ...change.head, last_status: row.status };
  const { history, laterCount } = await historyBefore(cell, resumed, options);
  signal?.throwIfAborted();
  return { run: { row }, history, earlierCount: change.head.message_count - laterCount, resumed };
}

// The conversation before the input of the run, and how many messages follow. Without input, all of it.
async function historyBefore(
  cell: SessionCell,
  { record }: ResumedRun,
  options: HistoryOptions,
): Promise<{ readonly history: readonly Message[]; readonly laterCount: number }> {
  const [first] = record.input;
  const from = (first && cell.refs.get(first)?.position) ?? Number.MAX_SAFE_INTEGER;
  const later = await cell.context.rows.readRaw("messages", { order: "said", prefix: [cell.id], from });
  return { history: await loadHistoryBefore(cell, from, options), laterCount: later.length };
}
