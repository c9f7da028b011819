// Lists the runs of a store or a session, and reads the whole value of a clipped result.
import { isObject, type JsonObject, type JsonValue, parseJson } from "../../base/json.ts";
import { checkOptions, type OptionRule, oneOf, shownValue, someText, yesOrNo } from "../../base/options.ts";
import { OffstageError } from "../../errors.ts";
import { contentsOf } from "../conversation/conversation.ts";
import type { SessionCells } from "../head/session-cell.ts";
import type { RunInfo, RunStatus } from "../ports/run-record.ts";
import { checkLimit } from "../ports/session.ts";
import type { Condition, Row } from "../ports/store-driver.ts";
import type { RunRow, SessionRow } from "../ports/tables.ts";
import { corrupt } from "../rows/check-row.ts";
import { type Annotation, annotationsIn } from "./annotations.ts";
import {
  containsText,
  filterRules,
  hasMetadata,
  isWithin,
  someCursor,
  type Time,
  timeConditions,
  valuesOf,
} from "./filters.ts";
import { findRun, readInfo } from "./run-reader.ts";

export interface ListRunsOptions {
  /** Only runs of this session. Default: runs of all sessions. */
  readonly sessionId?: string | undefined;
  readonly status?: RunStatus | readonly RunStatus[] | undefined;
  /** Only runs of the agent with this name, or of several. The default name of an agent is "agent". */
  readonly agent?: string | readonly string[] | undefined;
  readonly model?: string | readonly string[] | undefined;
  /** Begun at this time or later. */
  readonly since?: Time | undefined;
  /** Begun at this time or earlier. */
  readonly until?: Time | undefined;
  /** Text that one of the run's messages, or its error, contains, in any case. */
  readonly text?: string | undefined;
  /** Only runs with feedback of this label, or of one of several. */
  readonly label?: string | readonly string[] | undefined;
  /** Values that the metadata of the session has. */
  readonly metadata?: JsonObject | undefined;
  /** Lists the runs of subagents too. Default false: they are in `get(runId).children`. */
  readonly subagents?: boolean | undefined;
  /** Default "newest" first. */
  readonly order?: "newest" | "oldest" | undefined;
  /** The maximum number of runs. Default: all. */
  readonly limit?: number | undefined;
  /** The `cursor` of the last run of the previous page. */
  readonly before?: string | undefined;
}

export interface ListedRun extends RunInfo {
  /** The feedback on the run, oldest first; missing if there is none. */
  readonly annotations?: readonly Annotation[];
  /** The start of the next page: `list({ before: cursor })`. */
  readonly cursor: string;
}

const { limit, since, until, agent, model, status, label, text, metadata } = filterRules;
const listRules: Readonly<Record<keyof ListRunsOptions, OptionRule>> = {
  ...{ limit, since, until, agent, model, status, label, text, metadata },
  sessionId: someText,
  subagents: yesOrNo,
  order: oneOf("newest", "oldest"),
  before: someCursor(),
};

/** Throws `invalid-argument` for an unknown or unfit option. */
export function checkListRuns(options: ListRunsOptions, owner: string): void {
  checkOptions(options, listRules, owner);
}

/** Lists runs. Without a limit, the list is one snapshot. */
export async function listRuns(cells: SessionCells, options: ListRunsOptions = {}): Promise<ListedRun[]> {
  checkListRuns(options, "runs.list()");
  const most = checkLimit(options.limit) ?? Number.POSITIVE_INFINITY;
  await cells.context.rows.ready();
  const found: ListedRun[] = [];
  const labelled = await labelledRuns(cells, options);
  if (labelled?.size === 0) return [];
  const pages = new RunPages(cells, options);
  while (found.length < most && !pages.isLast) {
    for (const row of await pages.next(most === Number.POSITIVE_INFINITY ? undefined : Math.max(most, 100))) {
      if (labelled?.has(row.run_id) === false) continue;
      const run = await showRun(cells, row, { options, heads: pages.heads });
      if (run !== undefined) found.push(run);
      if (found.length === most) break;
    }
  }
  return withAnnotations(cells, found);
}

// The ids of runs with a wanted label; undefined if any run will do.
async function labelledRuns(cells: SessionCells, options: ListRunsOptions): Promise<ReadonlySet<string> | undefined> {
  const labels = valuesOf(options.label);
  if (labels === undefined) return undefined;
  const { sessionId } = options;
  const isOfSession = sessionId === undefined ? [] : [{ column: "session_id", in: [sessionId] }];
  const where = [{ column: "label", in: labels }, ...isOfSession];
  const rows = await cells.context.rows.select({ table: "annotations", where });
  return new Set(rows.map(({ run_id }) => run_id));
}

async function withAnnotations(cells: SessionCells, runs: readonly ListedRun[]): Promise<ListedRun[]> {
  const sessionIds = [...new Set(runs.map(({ sessionId }) => sessionId))];
  const found = Map.groupBy(await annotationsIn(cells, sessionIds), ({ runId }) => runId);
  return runs.map((run) => {
    const annotations = found.get(run.runId);
    return annotations === undefined ? run : { ...run, annotations };
  });
}

/** The rows of a list, page by page. */
class RunPages {
  /** The heads of sessions that were read for this list. */
  readonly heads = new Map<string, SessionRow | undefined>();
  readonly #cells: SessionCells;
  readonly #options: ListRunsOptions;
  #cursor: number | undefined;
  #isLast = false;

  /** All pages were read. */
  get isLast(): boolean {
    return this.#isLast;
  }

  constructor(cells: SessionCells, options: ListRunsOptions) {
    this.#cells = cells;
    this.#options = options;
    this.#cursor = options.before === undefined ? undefined : Number(options.before);
  }

  /** The readable rows of the next page. */
  async next(limit: number | undefined): Promise<RunRow[]> {
    const { rows: access } = this.#cells.context;
    const rows = await this.#read(limit);
    this.#isLast = limit === undefined || rows.length < limit;
    this.#cursor = Number(rows.at(-1)?.seq);
    return access.openAll("runs", rows);
  }

  async #read(limit: number | undefined): Promise<Row[]> {
    const { rows: access } = this.#cells.context;
    const at = this.#cursor;
    if (this.#options.order === "oldest")
      return access.readRaw("runs", { order: "started", from: at === undefined ? undefined : at + 1, limit });
    const isBefore = at === undefined ? [] : [{ column: "seq", before: at }];
    const where = [...conditionsOf(this.#options), ...isBefore];
    return access.selectRaw({ table: "runs", where, newestBy: "started", limit });
  }
}

// A run that says `running` may be interrupted, so both are read as `running`.
function conditionsOf(options: ListRunsOptions): Condition[] {
  const { sessionId, subagents = false } = options;
  const statuses = valuesOf(options.status)?.map((each) => (each === "interrupted" ? "running" : each));
  const agents = valuesOf(options.agent);
  const models = valuesOf(options.model);
  return [
    ...(sessionId === undefined ? [] : [{ column: "session_id", in: [sessionId] }]),
    ...(statuses === undefined ? [] : [{ column: "status", in: statuses }]),
    ...(agents === undefined ? [] : [{ column: "agent", in: agents }]),
    ...(models === undefined ? [] : [{ column: "model", in: models }]),
    ...(subagents ? [] : [{ column: "parent_run_id", in: [null] }]),
    ...timeConditions("started_at", options),
  ];
}

interface Listing {
  readonly options: ListRunsOptions;
  readonly heads: Map<string, SessionRow | undefined>;
}

// The run as the list shows it; undefined if the options do not select it.
async function showRun(cells: SessionCells, row: RunRow, { options, heads }: Listing): Promise<ListedRun | undefined> {
  const { sessionId, subagents = false } = options;
  if ((sessionId ?? row.session_id) !== row.session_id || (!subagents && row.parent_run_id !== null)) return undefined;
  if (valuesOf(options.agent)?.includes(row.agent) === false || !isWithin(row.started_at, options)) return undefined;
  if (valuesOf(options.model)?.includes(row.model ?? "") === false) return undefined;
  const needsHead = row.status === "running" || options.metadata !== undefined;
  const head = needsHead ? await headOf(cells, row.session_id, heads) : undefined;
  const info = readInfo(cells.context, row, head);
  if (info === undefined || valuesOf(options.status)?.includes(info.status) === false) return undefined;
  if (options.metadata !== undefined && !hasMetadata(metadataOf(head), options.metadata)) return undefined;
  if (options.text !== undefined && !(await hasText(cells, row, options.text))) return undefined;
  return { ...info, cursor: String(row.seq) };
}

async function headOf(
  cells: SessionCells,
  sessionId: string,
  heads: Map<string, SessionRow | undefined>,
): Promise<SessionRow | undefined> {
  if (!heads.has(sessionId)) {
    const [head] = await cells.context.rows.getAll("sessions", [[sessionId]]);
    heads.set(sessionId, head);
  }
  return heads.get(sessionId);
}

/** The metadata of a session. */
export function metadataOf(head: SessionRow | undefined): JsonObject | undefined {
  const value = typeof head?.metadata === "string" ? parseJson(head.metadata) : undefined;
  return isObject(value) ? (value as JsonObject) : undefined;
}

async function hasText(cells: SessionCells, { session_id, run_id, error }: RunRow, wanted: string): Promise<boolean> {
  if (containsText([error], wanted)) return true;
  const rows = await cells.context.rows.read("messages", { order: "run", prefix: [session_id, run_id] });
  return containsText(
    rows.map(({ content }) => content),
    wanted,
  );
}

/** The whole value of a tool result that was clipped for the model. */
export async function getValue(cells: SessionCells, runId: string, toolCallId: string): Promise<JsonValue | undefined> {
  const { rows: access, report } = cells.context;
  if (!someText.isFit(toolCallId))
    throw new OffstageError("invalid-argument", `A tool call id must be text; found ${shownValue(toolCallId)}.`);
  const run = await findRun(cells.context, runId);
  if (run === undefined) return undefined;
  const calls = await access.read("tool_calls", { prefix: [run.session_id, runId] });
  const ref = calls.find(({ call_id, result_ref }) => call_id === toolCallId && result_ref !== null)?.result_ref;
  if (ref === undefined || ref === null) return undefined;
  const content = (await contentsOf(cells.context, run.session_id, [ref])).get(ref);
  const value = content === undefined ? undefined : parseJson(content);
  if (value === undefined)
    report(
      corrupt(`the value of call "${toolCallId}" of run "${runId}" in ${access.name}`, new Error("it is missing")),
    );
  return value;
}
