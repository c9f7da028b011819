// The journal of one stored session: takes the session for a run, or for one that is taken up again. The run itself is stored-run.ts.
import { isOffstageError } from "../errors.ts";
import type { Message } from "../messages/message.ts";
import { touched } from "./activity.ts";
import { loadHistory, loadHistoryBefore } from "./conversation.ts";
import type { Journal, ReopenOptions, RunLog, RunRecord, RunStart } from "./journal.ts";
import { type Admitted, inOrder, leased, letGo, whenFree } from "./lease.ts";
import { checkLimit } from "./limit.ts";
import { checkResumable, reopenedRun } from "./run-life.ts";
import { findToResume, readToResume } from "./run-reader.ts";
import { indexRun, putRun, type RunRow, runRow, traceRow } from "./run-rows.ts";
import { type Change, type SessionCell, storedMessages } from "./session-cell.ts";
import type { SessionCells } from "./session-cells.ts";
import type { SessionHead } from "./session-head.ts";
import { StoredRun } from "./stored-run.ts";

/** The journal of a session on a store. */
export function storedJournal(cells: SessionCells, sessionId: string): Journal {
  return {
    keepsSpans: true,
    keepsRuns: true,
    open: (start) => expected(cells, openRun(cells.of(sessionId), start)),
    reopen: (runId, options) => expected(cells, reopenRun(cells.of(sessionId), runId, options)),
  };
}

// A store that is closed in the meantime gives up what comes of it.
function expected<Taking extends RunLog | Promise<RunLog>>({ context }: SessionCells, taking: Taking): Taking {
  if ("then" in taking) context.holds.expect(taking);
  return taking;
}

interface Begun {
  readonly row: RunRow;
  readonly fence: number;
  readonly history: readonly Message[];
}

/** Thrown within a begin whose run row is there already. */
class KnownRun extends Error {}

function openRun(cell: SessionCell, start: RunStart): RunLog | Promise<RunLog> {
  checkLimit(start.historyLimit, "historyLimit");
  const begin = () => cell.updateNow("run.begin", (head) => beginning(cell, head, start));
  const opening = whenFree(cell, start, begin);
  if (!("then" in opening)) return logOf(cell, opening);
  return opening.then(
    (begun) => logOf(cell, begun),
    (error) => {
      if (error instanceof KnownRun) return reopenRun(cell, start.runId, start);
      return notBegun(cell, start.runId, error);
    },
  );
}

// Where the connection was lost, nobody knows whether the lease was taken.
function notBegun(cell: SessionCell, runId: string, error: unknown): never {
  if (isOffstageError(error, "store-connection")) cell.context.holds.expect(letGo(cell, runId));
  throw error;
}

function logOf(cell: SessionCell, { result, leave }: Admitted<Begun>): RunLog {
  const { row, fence, history } = result;
  return new StoredRun({ cell, row, fence, history, leave });
}

function beginning(cell: SessionCell, head: SessionHead, start: RunStart): Change<Begun> | Promise<Change<Begun>> {
  const held = leased(cell, head, start);
  const history = loadHistory(cell, head, start.historyLimit);
  return "then" in history
    ? history.then((loaded) => beginChange(cell, held, { start, history: loaded }))
    : beginChange(cell, held, { start, history });
}

interface BeginOptions {
  readonly start: RunStart;
  readonly history: readonly Message[];
}

// Input, run row, its place in the lists and the lease: one write.
function beginChange(cell: SessionCell, held: SessionHead, { start, history }: BeginOptions): Change<Begun> {
  const { context } = cell;
  const appended = storedMessages(context.redact, start.input, start);
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

async function reopenRun(cell: SessionCell, runId: string, options: ReopenOptions): Promise<RunLog> {
  checkLimit(options.historyLimit, "historyLimit");
  const take = () => cell.updateNow("run.begin", (head) => reopening(cell, head, { ...options, runId }));
  const taking = Promise.resolve(whenFree(cell, options, take));
  const { result, leave } = await taking.catch((error) => notBegun(cell, runId, error));
  return new StoredRun({ cell, ...result, leave });
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
