// Lists the runs of a store or a session, and reads the whole value of a clipped result.
import { isObject, type JsonObject, type JsonValue, parseJson } from "../../base/json.ts";
import { checkOptions, type OptionRule, shownValue, someText, yesOrNo } from "../../base/options.ts";
import { OffstageError } from "../../errors.ts";
import { contentsOf } from "../conversation/conversation.ts";
import { corrupt, type NamespaceRows } from "../head/namespace-rows.ts";
import type { SessionCells } from "../head/session-cell.ts";
import type { RunInfo, RunStatus } from "../ports/run-record.ts";
import type { Condition } from "../ports/store-driver.ts";
import type { RunRow, SessionRow, StepRow } from "../ports/tables.ts";
import { type Annotation, annotationsIn } from "./annotations.ts";
import {
  containsText,
  hasMetadata,
  isOneOf,
  isWithin,
  type ListPart,
  listPages,
  listRules,
  oneOrMore,
  type Time,
  valuesOf,
} from "./lists.ts";
import { findRun, readInfo, withSteps } from "./run-reader.ts";

export interface ListRunsOptions extends ListPart {
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
}

export interface ListedRun extends RunInfo {
  /** The feedback on the run, oldest first; missing if there is none. */
  readonly annotations?: readonly Annotation[];
  /** The start of the next page: `list({ before: cursor })`. */
  readonly cursor: string;
}

const { limit, since, until, agent, ...others } = listRules;
const rules: Readonly<Record<keyof ListRunsOptions, OptionRule>> = {
  ...{ limit, since, until, agent },
  model: oneOrMore(someText),
  ...others,
  label: oneOrMore(someText),
  sessionId: someText,
  subagents: yesOrNo,
};

/** Throws `invalid-argument` for an unknown or unfit option. */
export function checkListRuns(options: ListRunsOptions, owner: string): void {
  checkOptions(options, rules, owner);
}

/** Lists runs. Without a limit, the list is one snapshot. */
export async function listRuns(cells: SessionCells, options: ListRunsOptions = {}): Promise<ListedRun[]> {
  checkListRuns(options, "runs.list()");
  const { rows } = cells.context;
  await rows.ready();
  const { limit: most = Number.POSITIVE_INFINITY } = options;
  const found: ListedRun[] = [];
  const list = { table: "runs", order: "started", where: await conditionsOf(rows, options) } as const;
  for await (const page of most === 0 ? [] : listPages(rows, list, options)) {
    const heads = await headsOf(rows, options.metadata === undefined ? page.filter(isOpen) : page);
    for (const row of page) {
      const head = heads.get(row.session_id);
      const info = readInfo(rows, row, head);
      if (info === undefined || !(await isWanted(rows, { row, info, head }, options))) continue;
      found.push({ ...info, cursor: String(row.seq) });
      if (found.length === most) return complete(cells, found);
    }
  }
  return complete(cells, found);
}

async function complete(cells: SessionCells, found: readonly ListedRun[]): Promise<ListedRun[]> {
  return withAnnotations(cells, await withOpenSteps(cells.context.rows, found));
}

// More runs than this are not listed in a condition.
const mostListed = 500;

// The rows of runs that have not ended do not tell their steps. One question reads the steps of all of them.
async function withOpenSteps(rows: NamespaceRows, runs: readonly ListedRun[]): Promise<ListedRun[]> {
  const open = runs.filter(
    ({ status, usage }) => usage === undefined || status === "running" || status === "interrupted",
  );
  const steps = new Map<string, StepRow[]>();
  for (let start = 0; start < open.length; start += mostListed) {
    const some = open.slice(start, start + mostListed);
    const sessionIds = [...new Set(some.map(({ sessionId }) => sessionId))];
    const where = [
      ...isOneOf("session_id", sessionIds),
      ...isOneOf(
        "run_id",
        some.map(({ runId }) => runId),
      ),
    ];
    const found = await rows.select({ table: "steps", where });
    for (const [runId, own] of Map.groupBy(found, ({ run_id }) => run_id)) steps.set(runId, own);
  }
  return runs.map((run) => withSteps(run, steps.get(run.runId) ?? []));
}

/** True if the status of a run depends on the head of its session: a run that says `running` may be interrupted. */
export function isOpen({ status }: RunRow): boolean {
  return status === "running";
}

/** The heads of the sessions of these runs, by session id. */
export async function headsOf(rows: NamespaceRows, runs: readonly RunRow[]): Promise<ReadonlyMap<string, SessionRow>> {
  const ids = [...new Set(runs.map(({ session_id }) => session_id))];
  const heads = await rows.getAll(
    "sessions",
    ids.map((id) => [id]),
  );
  return new Map(heads.flatMap((head) => (head === undefined ? [] : [[head.session_id, head]])));
}

async function withAnnotations(cells: SessionCells, runs: readonly ListedRun[]): Promise<ListedRun[]> {
  const sessionIds = [...new Set(runs.map(({ sessionId }) => sessionId))];
  const found = Map.groupBy(await annotationsIn(cells.context, sessionIds), ({ runId }) => runId);
  return runs.map((run) => {
    const annotations = found.get(run.runId);
    return annotations === undefined ? run : { ...run, annotations };
  });
}

// The conditions that a back end can check. A run that says `running` may be interrupted, so both are read as `running`.
async function conditionsOf(rows: NamespaceRows, options: ListRunsOptions): Promise<Condition[]> {
  const { sessionId, status, agent, model, subagents = false } = options;
  return [
    ...isOneOf("session_id", sessionId),
    ...isOneOf(
      "status",
      valuesOf(status)?.map((each) => (each === "interrupted" ? "running" : each)),
    ),
    ...isOneOf("agent", agent),
    ...isOneOf("model", model),
    ...(subagents ? [] : isOneOf("parent_run_id", null)),
    ...isWithin("started_at", options),
    ...isOneOf("run_id", await labelledRuns(rows, options)),
  ];
}

// The ids of runs with a wanted label; undefined if any run will do.
async function labelledRuns(rows: NamespaceRows, { label, sessionId }: ListRunsOptions): Promise<string[] | undefined> {
  if (label === undefined) return undefined;
  const where = [...isOneOf("label", label), ...isOneOf("session_id", sessionId)];
  const found = await rows.select({ table: "annotations", where });
  return [...new Set(found.map(({ run_id }) => run_id))];
}

interface Candidate {
  readonly row: RunRow;
  readonly info: RunInfo;
  readonly head: SessionRow | undefined;
}

// The conditions that need the whole record.
async function isWanted(
  rows: NamespaceRows,
  { row, info, head }: Candidate,
  { status, metadata, text }: ListRunsOptions,
): Promise<boolean> {
  if (valuesOf(status)?.includes(info.status) === false) return false;
  if (metadata !== undefined && !hasMetadata(metadataOf(head), metadata)) return false;
  if (text === undefined || containsText([row.error], text)) return true;
  const said = await rows.read("messages", { order: "run", prefix: [row.session_id, row.run_id] });
  return containsText(
    said.map(({ content }) => content),
    text,
  );
}

/** The metadata of a session. */
export function metadataOf(head: SessionRow | undefined): JsonObject | undefined {
  const value = typeof head?.metadata === "string" ? parseJson(head.metadata) : undefined;
  return isObject(value) ? (value as JsonObject) : undefined;
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
