// The runs of a store or of a session: listed newest first, and read whole by id.
import type { JsonValue } from "../messages/json.ts";
import type { RunInfo, RunRecord, RunStatus } from "./journal.ts";
import { checkLimit } from "./limit.ts";
import { decode } from "./message-rows.ts";
import { runKeys } from "./row-keys.ts";
import { infoOf, readRun, readRunRows } from "./run-reader.ts";
import type { RunRow } from "./run-rows.ts";
import type { SessionCell } from "./session-cell.ts";
import type { SessionCells } from "./session-cells.ts";
import type { Row } from "./store-driver.ts";

export interface ListRunsOptions {
  /** Only runs of this session; otherwise those of all. Runs of subagents are in `get(runId).children`. */
  readonly sessionId?: string;
  readonly status?: RunStatus;
  /** At most so many; undefined is all. */
  readonly limit?: number;
  /** The `cursor` of the last run of the page before. */
  readonly before?: string;
}

export interface ListedRun extends RunInfo {
  /** Where the next page begins: `list({ before: cursor })`. */
  readonly cursor: string;
}

const pageSize = 100;

/** Runs, the newest first. */
export async function listRuns(cells: SessionCells, options: ListRunsOptions = {}): Promise<ListedRun[]> {
  const limit = checkLimit(options.limit) ?? Number.POSITIVE_INFINITY;
  const found: ListedRun[] = [];
  let before = options.before;
  while (found.length < limit) {
    const size = options.status === undefined ? Math.min(limit - found.length, pageSize) : pageSize;
    const page = await readPage(cells, options.sessionId, { size, before });
    for (const run of page.runs) if (options.status === undefined || run.status === options.status) found.push(run);
    if (page.last === undefined) break;
    before = page.last;
  }
  return found.slice(0, limit);
}

interface PageOptions {
  readonly size: number;
  readonly before: string | undefined;
}

interface RunPage {
  readonly runs: readonly ListedRun[];
  /** The last key of a page that was full. */
  readonly last?: string;
}

async function readPage(
  cells: SessionCells,
  sessionId: string | undefined,
  { size, before }: PageOptions,
): Promise<RunPage> {
  const { context } = cells;
  const list = sessionId === undefined ? context.lists.runs : context.lists.sessionRuns(sessionId);
  const index = await context.driver.read(list, {
    reverse: true,
    limit: size,
    ...(before === undefined ? {} : { before }),
  });
  const rows = await readRunRows(
    context,
    index.map(({ value }) => value),
  );
  const runs = await Promise.all(rows.map((row) => listed(cells, row, index)));
  const last = index.length === size ? index.at(-1)?.key : undefined;
  return { runs, ...(last === undefined ? undefined : { last }) };
}

async function listed(cells: SessionCells, row: RunRow, index: readonly Row[]): Promise<ListedRun> {
  const head = row.status === "running" ? await cells.of(row.sessionId).head() : undefined;
  return { ...infoOf(row, head), cursor: index.find(({ value }) => value === row.runId)?.key ?? "" };
}

/** Everything recorded of a run, or undefined where there is none of that id. */
export async function getRun(cells: SessionCells, runId: string): Promise<RunRecord | undefined> {
  const [row] = await readRunRows(cells.context, [runId]);
  return row && readRun(cells.of(row.sessionId), row);
}

/** The cell of the session a run belongs to. */
export async function sessionOfRun(cells: SessionCells, runId: string): Promise<SessionCell | undefined> {
  const [row] = await readRunRows(cells.context, [runId]);
  return row && cells.of(row.sessionId);
}

/** The whole value of a tool result that was clipped for the model. */
export async function getValue(
  { context }: SessionCells,
  runId: string,
  toolCallId: string,
): Promise<JsonValue | undefined> {
  const [row] = await context.driver.get([{ list: context.lists.run(runId), key: runKeys.value(toolCallId) }]);
  const name = `the value of call "${toolCallId}" of run "${runId}" in ${context.driver.name}`;
  return row && decode<JsonValue>({ row, name }, context.report);
}
