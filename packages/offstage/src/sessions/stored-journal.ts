// The journal of a session on a store: opens and resumes runs. The log of an open run is in stored-run.ts.
import { isOffstageError } from "../errors.ts";
import type { Message } from "../messages/message.ts";
import { touched } from "./activity.ts";
import { loadHistory, loadHistoryBefore } from "./conversation.ts";
import type { Journal, ReopenOptions, RunLog, RunRecord, RunStart } from "./journal.ts";
import { inOrder, leased, letGo, whenFree } from "./lease.ts";
import { checkLimit } from "./limit.ts";
import { checkResumable, reopenedRun } from "./run-life.ts";
import { findToResume, readToResume } from "./run-reader.ts";
import { indexRun, putRun, type RunRow, runRow, traceRow } from "./run-rows.ts";
import type { SessionCells } from "./session-cell.ts";
import { type Change, type SessionCell, storedMessages } from "./session-cell.ts";
import type { SessionHead } from "./session-head.ts";
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
    open: (start) => expected(openRun(cells, sessionId, start)),
    reopen: (runId, options) => expected(reopenRun(cells, sessionId, { ...options, runId })),
  };
}

interface Begun {
  readonly row: RunRow;
  readonly fence: number;
  readonly history: readonly Message[];
}

/** Thrown if a run with this id is already recorded: it is resumed instead. */
class KnownRun extends Error {}

async function openRun(cells: SessionCells, sessionId: string, start: RunStart): Promise<RunLog> {
  const cell = cells.of(sessionId);
  checkLimit(start.historyLimit, "historyLimit");
  const begin = () => cell.update("run.begin", (head) => beginning(cell, head, start));
  try {
    const { result, leave } = await whenFree(cell, start, begin);
    return new StoredRun({ cell, ...result, leave });
  } catch (error) {
    if (error instanceof KnownRun) return reopenRun(cells, sessionId, start);
    throw notBegun(cell, start.runId, error);
  }
}

// After a lost connection the lease may have been acquired.
function notBegun(cell: SessionCell, runId: string, error: unknown): unknown {
  if (isOffstageError(error, "store-connection")) cell.context.holds.expect(letGo(cell, runId));
  return error;
}

async function beginning(cell: SessionCell, head: SessionHead, start: RunStart): Promise<Change<Begun>> {
  const held = leased(cell, head, start);
  const history = await loadHistory(cell, head, start.historyLimit);
  start.signal?.throwIfAborted();
  return beginChange(cell, held, { start, history });
}

interface BeginOptions {
  readonly start: RunStart;
  readonly history: readonly Message[];
}

// Input, run row, index rows and lease are one write.
function beginChange(cell: SessionCell, held: SessionHead, { start, history }: BeginOptions): Change<Begun> {
  const { context } = cell;
  const appended = storedMessages(context.redact, start.input);
  const next = held.next + appended.length;
  const { nextRun: n, runs } = held;
  const input = appended.length === 0 ? undefined : ([held.next, next - 1] as const);
  const row = runRow(start, { n, stamp: context.stamp(), input });
  const counts = { next, count: held.count + appended.length, nextRun: n + 1, runs: runs + 1 };
  const change = touched(cell, held, counts);
  change.writes.push(putRun(cell, row), ...indexRun(cell, row));
  const { head, writes } = change;
  const begun = { result: { row, fence: held.fence, history }, head, appended, writes };
  return inOrder(cell, start.onBusy, start.isFresh ? begun : { ...begun, ...unlessKnown(cell, row) });
}

function unlessKnown({ context }: SessionCell, { runId }: RunRow): Pick<Change<Begun>, "checks" | "onRefused"> {
  return {
    checks: [{ list: context.lists.run(runId), key: "at", value: undefined }],
    onRefused: ([known]) => {
      if (known !== undefined) throw new KnownRun();
    },
  };
}

async function reopenRun(cells: SessionCells, sessionId: string, options: Reopening): Promise<RunLog> {
  const cell = cells.of(sessionId);
  checkLimit(options.historyLimit, "historyLimit");
  const take = () => cell.update("run.begin", (head) => reopening(cell, head, options));
  try {
    const { result, leave } = await whenFree(cell, options, take);
    return new StoredRun({ cell, ...result, leave });
  } catch (error) {
    throw notBegun(cell, options.runId, error);
  }
}

interface Reopened extends Begun {
  readonly recorded: RunRecord;
}

type Reopening = ReopenOptions & { readonly runId: string };

async function reopening(cell: SessionCell, head: SessionHead, options: Reopening): Promise<Change<Reopened>> {
  const held = leased(cell, head, options);
  const found = await resumable(cell, options.runId);
  const recorded = await readToResume(cell, found);
  const notes = options.admit?.(recorded);
  const { traceId } = options;
  const row: RunRow = {
    ...reopenedRun(found),
    ...(notes && { notes: { ...found.notes, ...notes } }),
    ...(traceId && { resumedIn: [...(found.resumedIn ?? []), traceId] }),
  };
  const history = await historyOf(cell, found, options);
  options.signal?.throwIfAborted();
  const result = { row, fence: held.fence, history, recorded };
  const writes = traceId === undefined ? [putRun(cell, row)] : [putRun(cell, row), traceRow(cell, row.n, traceId)];
  return inOrder(cell, options.onBusy, { result, head: held, writes });
}

async function resumable(cell: SessionCell, runId: string): Promise<RunRow> {
  const row = await findToResume(cell, runId);
  checkResumable(row, { runId, sessionId: cell.id });
  return row;
}

function historyOf(cell: SessionCell, { input }: RunRow, { historyLimit }: ReopenOptions): Promise<readonly Message[]> {
  return loadHistoryBefore(cell, input?.[0] ?? Number.MAX_SAFE_INTEGER, historyLimit);
}
