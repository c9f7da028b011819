// Numbers over all sessions: runs, failures, tokens, cost and durations, by group. The back end adds up if it can; otherwise the
// rows are read and added up here, with the same result.
import { inertText } from "../../../base/inert.ts";
import { checkOptions, type OptionRule } from "../../../base/options.ts";
import { printing } from "../../../query/self-printing.ts";
import type { NamespaceRows } from "../../head/namespace-rows.ts";
import type { SessionCells } from "../../head/session-cell.ts";
import { runStatuses } from "../../ports/run-record.ts";
import type { Condition, Grouping, Row, Value } from "../../ports/store-driver.ts";
import type { RunRow } from "../../ports/tables.ts";
import { epochOf, isOneOf, isWithin, listRules, type Time, type TimeRange } from "../lists.ts";
import { headsOf, isOpen } from "../run-list.ts";
import { readInfo } from "../run-reader.ts";

const dimensions = ["day", "agent", "model", "tool", "session", "status"] as const;

/** A dimension that numbers can be grouped by. A day is a day in UTC. */
export type Dimension = (typeof dimensions)[number];

export interface NumbersOptions {
  /** Default: one group of everything. */
  readonly by?: Dimension | readonly Dimension[] | undefined;
  /** Begun at this time or later. */
  readonly since?: Time | undefined;
  /** Begun at this time or earlier. */
  readonly until?: Time | undefined;
}

/** The numbers of one group. Tokens and cost are those of each run itself, so that groups add up to the whole. */
export interface GroupNumbers {
  readonly day?: string;
  readonly agent?: string;
  /** Missing in the group of runs whose model is not known. */
  readonly model?: string;
  readonly tool?: string;
  readonly session?: string;
  /** The status of the run; by tool, of the call. */
  readonly status?: string;
  /** Runs, subagents' runs included. By model, those that it answered. */
  readonly runs: number;
  /** Failed runs; by tool, failed calls. */
  readonly failures: number;
  /** Tool calls; only by tool. */
  readonly calls?: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  /** US dollars. Models without a price count as 0. */
  readonly cost: number;
  /** The median duration of runs, by model of steps, by tool of calls, in milliseconds; missing if none has ended. */
  readonly p50Ms?: number;
  readonly p95Ms?: number;
}

/** Numbers by group, which print themselves as a table. */
export type Numbers = readonly GroupNumbers[];

const rules: Readonly<Record<keyof NumbersOptions, OptionRule>> = {
  by: {
    isFit: (value) => [value].flat().every((each) => dimensions.includes(each as Dimension)),
    words: `one of ${dimensions.join(", ")}, or a list of these`,
  },
  since: listRules.since,
  until: listRules.until,
};

/** The numbers of all runs of a namespace, by group. */
export async function numbers({ context }: SessionCells, options: NumbersOptions = {}): Promise<Numbers> {
  checkOptions(options, rules, "numbers()");
  const by = [...new Set([options.by ?? []].flat() as Dimension[])];
  const rowsOf = by.includes("tool") ? rowsOfCalls : by.includes("model") ? rowsOfModels : rowsOfRuns;
  const groups = fold(by, await rowsOf(context.rows, by, options));
  const sorted = groups.sort((a, b) => compare(a, b, by));
  return printing(sorted, () => renderNumbers(sorted, by));
}

// Rows to add up have the columns of the dimensions, `runs`, `failures`, by tool `calls`, tokens, and `values`, a list of durations as
// JSON. A column that is missing counts as 0.
const tokenSums = ["input_tokens", "output_tokens", "total_tokens", "cost_usd"] as const;

// Runs that have not ended have no tokens in their row, and may be interrupted: they are read one by one.
const endedStatuses = runStatuses.filter((status) => status !== "running" && status !== "interrupted");

async function rowsOfRuns(rows: NamespaceRows, by: readonly Dimension[], range: TimeRange): Promise<Row[]> {
  const groups = { by: columnsOf(by, "status"), sum: tokenSums, values: "duration_ms" };
  const where = [...isOneOf("status", endedStatuses), ...isWithin("started_at", range)];
  const ended = await rows.selectRaw({ table: "runs", where, groups });
  const open = await readRuns(rows, isOneOf("status", "running"), range);
  const steps = open.length === 0 ? new Map<string, Row[]>() : await stepsOf(rows, open);
  const used = open.map((run) => {
    const own = steps.get(run.run_id) ?? [];
    return { ...dimensionsOf(run), ...tokensOf((name) => Math.max(Number(run[name] ?? 0), sumOf(own, name))) };
  });
  return [...ended.map((row) => countRuns(row, Number(row.count))), ...used.map((row) => countRuns(row, 1))];
}

// Tokens and durations by model are those of steps. Each run counts once, for the model that answered it; so do tokens that belong to
// no step, such as those of a compaction.
async function rowsOfModels(rows: NamespaceRows, _by: readonly Dimension[], range: TimeRange): Promise<Row[]> {
  const runs = await readRuns(rows, [], range);
  const steps = await stepsOf(rows, runs);
  return runs.flatMap((run): Row[] => {
    const own = steps.get(run.run_id) ?? [];
    const rest = tokensOf((name) => Math.max(0, round(Number(run[name] ?? 0) - sumOf(own, name))));
    return [
      countRuns({ ...dimensionsOf(run), ...rest, model: modelOf(run, own) }, 1),
      ...own.map((step) => ({ ...dimensionsOf(run), ...step })),
    ];
  });
}

// Tokens belong to steps and not to tools, so there are none here.
async function rowsOfCalls(rows: NamespaceRows, by: readonly Dimension[], range: TimeRange): Promise<Row[]> {
  const where = isWithin("started_at", range);
  const groups = { by: columnsOf(by, "status"), sum: [], values: "duration_ms" };
  const calls = await rows.selectRaw({ table: "tool_calls", where, groups });
  const distinct = { by: columnsOf(by), sum: [], distinct: "run_id" };
  const runs = await rows.selectRaw({ table: "tool_calls", where, groups: distinct });
  return [
    ...calls.map(({ count = 0, values = null, ...row }) => ({
      ...row,
      calls: count,
      failures: row.status === "error" ? count : 0,
      // A call that was rejected did not run, and how long an interrupted one ran is not known.
      values: row.status === "ok" || row.status === "error" ? values : null,
    })),
    ...runs.map(({ count = 0, ...row }) => ({ ...row, runs: count, calls: 0 })),
  ];
}

function columnsOf(by: readonly Dimension[], ...further: readonly Dimension[]): Grouping["by"] {
  return [...new Set([...by, ...further])].map((dimension) =>
    dimension === "day" ? { day: "started_at" } : columnOf(dimension),
  );
}

// The column of a row to add up.
function columnOf(dimension: Dimension): string {
  return dimension === "session" ? "session_id" : dimension;
}

function countRuns(row: Row, runs: number): Row {
  return { ...row, runs, failures: row.status === "failed" ? runs : 0 };
}

/** Runs that began within the range, with the status that lists show. */
async function readRuns(rows: NamespaceRows, where: readonly Condition[], range: TimeRange): Promise<RunRow[]> {
  const found = await rows.select({ table: "runs", where: [...where, ...isWithin("started_at", range)] });
  const heads = await headsOf(rows, found.filter(isOpen));
  return found.flatMap((row) => {
    const info = readInfo(rows, row, heads.get(row.session_id));
    return info === undefined ? [] : [{ ...row, status: info.status }];
  });
}

// More runs than this are not listed in a condition.
const mostListed = 500;

/** The tokens and durations of steps by model, for each of these runs. A step without a finish reason is a model call that failed. */
async function stepsOf(rows: NamespaceRows, runs: readonly RunRow[]): Promise<ReadonlyMap<string, Row[]>> {
  const groups = { by: ["run_id", "model"], sum: tokenSums, values: "duration_ms" };
  const isFinished = { column: "finish_reason", from: "" };
  const runIds = runs.length > mostListed ? undefined : runs.map(({ run_id }) => run_id);
  const found = await rows.selectRaw({ table: "steps", where: [isFinished, ...isOneOf("run_id", runIds)], groups });
  return Map.groupBy(found, ({ run_id }) => String(run_id));
}

// The model that a run called last, unless others answered: a provider may answer under a more exact name.
function modelOf({ model }: RunRow, steps: readonly Row[]): Value {
  if (steps.some((step) => step.model === model)) return model;
  const byTokens = steps.toSorted((a, b) => Number(b.total_tokens) - Number(a.total_tokens) || compareModels(a, b));
  return byTokens[0]?.model ?? model;
}

function compareModels(a: Row, b: Row): number {
  return String(a.model) < String(b.model) ? -1 : 1;
}

// The columns of a run by which numbers are grouped.
function dimensionsOf({ session_id, agent, model, status, started_at }: RunRow): Row {
  return { session_id, agent, model, status, day: started_at.slice(0, 10) };
}

function tokensOf(count: (name: (typeof tokenSums)[number]) => number): Row {
  return Object.fromEntries(tokenSums.map((name) => [name, count(name)]));
}

function sumOf(rows: readonly Row[], name: string): number {
  return rows.reduce((sum, row) => sum + Number(row[name] ?? 0), 0);
}

// Sums of dollars have tiny errors, which depend on the order of the rows.
function round(sum: number): number {
  return Math.round(sum * 1e12) / 1e12;
}

// Joins rows that differ only in columns that are no dimensions.
function fold(by: readonly Dimension[], rows: readonly Row[]): GroupNumbers[] {
  const groups = Map.groupBy(rows, (row) => JSON.stringify(by.map((dimension) => row[columnOf(dimension)] ?? null)));
  return [...groups.values()].map((own) => ({
    ...namesOf(own[0] ?? {}, by),
    runs: sumOf(own, "runs"),
    failures: sumOf(own, "failures"),
    inputTokens: sumOf(own, "input_tokens"),
    outputTokens: sumOf(own, "output_tokens"),
    totalTokens: sumOf(own, "total_tokens"),
    cost: round(sumOf(own, "cost_usd")),
    ...(by.includes("tool") && { calls: sumOf(own, "calls") }),
    ...percentiles(own.flatMap(({ values }) => (typeof values === "string" ? (JSON.parse(values) as number[]) : []))),
  }));
}

function namesOf(row: Row, by: readonly Dimension[]): Partial<Record<Dimension, string>> {
  const names = by.map((dimension) => [dimension, row[columnOf(dimension)] ?? null] as const);
  return Object.fromEntries(names.flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]])));
}

function percentiles(durations: readonly number[]): Pick<GroupNumbers, "p50Ms" | "p95Ms"> {
  if (durations.length === 0) return {};
  const sorted = durations.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? 0;
  return { p50Ms: at(0.5), p95Ms: at(0.95) };
}

// By day, newest first; then by runs, most first; then by name.
function compare(a: GroupNumbers, b: GroupNumbers, by: readonly Dimension[]): number {
  const byDay = epochOf(b.day ?? 0) - epochOf(a.day ?? 0);
  const key = (group: GroupNumbers) => JSON.stringify(by.map((dimension) => group[dimension] ?? null));
  return byDay || b.runs - a.runs || (key(a) < key(b) ? -1 : 1);
}

function renderNumbers(groups: Numbers, by: readonly Dimension[]): string {
  const hasCalls = groups.some(({ calls }) => calls !== undefined);
  // Tokens and cost belong to steps, not to tools.
  const counts = hasCalls ? ["runs", "calls", "failures"] : ["runs", "failures", "tokens", "cost"];
  const timed = by.includes("tool") ? "call " : by.includes("model") ? "step " : "";
  const header = [...by, ...counts, `${timed}p50 ms`, `${timed}p95 ms`];
  const rows = groups.map((group) => [
    ...by.map((dimension) => inertText(group[dimension] ?? "")),
    String(group.runs),
    ...(hasCalls ? [String(group.calls ?? 0)] : []),
    String(group.failures),
    ...(hasCalls ? [] : [String(group.totalTokens), `$${group.cost.toFixed(4)}`]),
    group.p50Ms === undefined ? "" : group.p50Ms.toFixed(0),
    group.p95Ms === undefined ? "" : group.p95Ms.toFixed(0),
  ]);
  const widths = header.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) =>
        column < by.length ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd();
  return [line(header), ...rows.map(line)].join("\n");
}
