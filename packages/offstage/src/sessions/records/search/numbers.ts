// Numbers over all sessions: runs, failures, tokens, cost and durations, by group. The back end adds up if it can; otherwise the
// rows are read and added up here, with the same result.

import { inertText } from "../../../base/inert.ts";
import { checkOptions, type OptionRule } from "../../../base/options.ts";
import { printing } from "../../../query/self-printing.ts";
import type { SessionCells } from "../../head/session-cell.ts";
import { runStatuses } from "../../ports/run-record.ts";
import type { Grouping, Row, Value } from "../../ports/store-driver.ts";
import type { RunRow } from "../../ports/tables.ts";
import { epochOf, listRules, type Time } from "../lists.ts";
import { grouped, runRows, stepsOf, tokenSums } from "./number-rows.ts";

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
export async function numbers(cells: SessionCells, options: NumbersOptions = {}): Promise<Numbers> {
  checkOptions(options, rules, "numbers()");
  const by = [...new Set([options.by ?? []].flat() as Dimension[])];
  const groups = by.includes("tool")
    ? await ofCalls(cells, by, options)
    : by.includes("model")
      ? await ofModels(cells, by, options)
      : await ofRuns(cells, by, options);
  const sorted = groups.sort((a, b) => compare(a, b, by));
  return printing(sorted, () => renderNumbers(sorted, by));
}

// Runs that have not ended have no tokens in their row, and may be interrupted: they are read one by one.
const endedStatuses = runStatuses.filter((status) => status !== "running" && status !== "interrupted");

// The status of a run is needed to count failures, whether it is a dimension or not.
async function ofRuns(cells: SessionCells, by: readonly Dimension[], options: NumbersOptions): Promise<GroupNumbers[]> {
  const columns = columnsOf(by);
  const grouping = {
    by: by.includes("status") ? columns : [...columns, "status"],
    sum: tokenSums,
    values: "duration_ms",
  };
  const isEnded = { column: "status", in: endedStatuses };
  const ended = await grouped(cells, "runs", { where: [isEnded], groups: grouping, options });
  const open = await runRows(cells, { column: "status", in: ["running"] }, options);
  return fold(by, [...ended, ...(await usedBy(cells, open))], (row) => ({
    runs: Number(row.count),
    failures: row.status === "failed" ? Number(row.count) : 0,
  }));
}

// Rows of groups, one for each of these runs, with the tokens of its steps so far.
async function usedBy(cells: SessionCells, runs: readonly RunRow[]): Promise<Row[]> {
  if (runs.length === 0) return [];
  const steps = await stepsOf(cells, runs);
  return runs.map((run) => {
    const own = steps.get(run.run_id) ?? [];
    const tokens = tokenSums.map((name) => [name, Math.max(Number(run[name] ?? 0), sumOf(own, name))]);
    return { ...named(run), ...Object.fromEntries(tokens), count: 1 };
  });
}

// Tokens and durations by model are those of steps. Each run counts once, for the model that answered it; so do tokens that belong to
// no step, such as those of a compaction.
async function ofModels(
  cells: SessionCells,
  by: readonly Dimension[],
  options: NumbersOptions,
): Promise<GroupNumbers[]> {
  const runs = await runRows(cells, undefined, options);
  const steps = await stepsOf(cells, runs);
  const rows = runs.flatMap((run): Row[] => {
    const own = steps.get(run.run_id) ?? [];
    const rest = tokenSums.map((name) => [name, Math.max(0, rounded(Number(run[name] ?? 0) - sumOf(own, name)))]);
    return [
      { ...named(run), ...Object.fromEntries(rest), model: modelOf(run, own), count: 1 },
      ...own.map((step) => ({ ...named(run), ...step, count: 0 })),
    ];
  });
  return fold(by, rows, (row) => ({
    runs: Number(row.count),
    failures: row.status === "failed" ? Number(row.count) : 0,
  }));
}

// The model that a run called last, unless others answered: a provider may answer under a more exact name.
function modelOf({ model }: RunRow, steps: readonly Row[]): Value {
  if (steps.length === 0 || steps.some((step) => step.model === model)) return model;
  const byTokens = steps.toSorted((a, b) => Number(b.total_tokens) - Number(a.total_tokens) || compareModels(a, b));
  return byTokens[0]?.model ?? model;
}

function compareModels(a: Row, b: Row): number {
  return String(a.model) < String(b.model) ? -1 : 1;
}

// The columns of a run by which numbers are grouped.
function named({ session_id, agent, model, status, started_at }: RunRow): Row {
  return { session_id, agent, model, status, day: started_at.slice(0, 10) };
}

function sumOf(rows: readonly Row[], name: string): number {
  return rows.reduce((sum, row) => sum + Number(row[name] ?? 0), 0);
}

// Sums of dollars have tiny errors, which depend on the order of the rows.
function rounded(sum: number): number {
  return Math.round(sum * 1e12) / 1e12;
}

// Tokens belong to steps and not to tools, so they are 0 here.
async function ofCalls(
  cells: SessionCells,
  by: readonly Dimension[],
  options: NumbersOptions,
): Promise<GroupNumbers[]> {
  const calls = {
    by: [...columnsOf(by), ...(by.includes("status") ? [] : ["status"])],
    sum: [],
    values: "duration_ms",
  };
  const found = await grouped(cells, "tool_calls", { groups: calls, options });
  // A call that was rejected did not run, and how long an interrupted one ran is not known.
  const rows = found.map((row) => (row.status === "ok" || row.status === "error" ? row : { ...row, values: null }));
  const distinct = { by: columnsOf(by), sum: [], distinct: "run_id" };
  const runs = await grouped(cells, "tool_calls", { groups: distinct, options });
  const runCounts = new Map(
    fold(by, runs, (row) => ({ runs: Number(row.count), failures: 0 })).map((group) => [keyOf(group, by), group.runs]),
  );
  const groups = fold(by, rows, (row) => ({
    runs: 0,
    calls: Number(row.count),
    failures: row.status === "error" ? Number(row.count) : 0,
  }));
  return groups.map((group) => ({ ...group, runs: runCounts.get(keyOf(group, by)) ?? 0 }));
}

function columnsOf(by: readonly Dimension[]): Grouping["by"] {
  return by.map((dimension) => {
    if (dimension === "day") return { day: "started_at" };
    return dimension === "session" ? "session_id" : dimension;
  });
}

type Counts = Pick<GroupNumbers, "runs" | "failures" | "calls">;

// Joins rows that differ only in columns that are no dimensions.
function fold(by: readonly Dimension[], rows: readonly Row[], countsOf: (row: Row) => Counts): GroupNumbers[] {
  const groups = new Map<string, { group: GroupNumbers; durations: number[] }>();
  for (const row of rows) {
    const names = namesOf(row, by);
    const key = keyOf(names, by);
    const { group = undefined, durations = [] } = groups.get(key) ?? {};
    for (const duration of typeof row.values === "string" ? (JSON.parse(row.values) as number[]) : [])
      durations.push(duration);
    groups.set(key, {
      group: added(group ?? { ...names, ...noNumbers }, row, countsOf(row)),
      durations,
    });
  }
  return [...groups.values()].map(({ group, durations }) => ({
    ...group,
    cost: rounded(group.cost),
    ...percentiles(durations),
  }));
}

const noNumbers = { runs: 0, failures: 0, inputTokens: 0, outputTokens: 0, totalTokens: 0, cost: 0 };

function added(group: GroupNumbers, row: Row, { runs, failures, calls }: Counts): GroupNumbers {
  return {
    ...group,
    runs: group.runs + runs,
    failures: group.failures + failures,
    ...(calls !== undefined && { calls: (group.calls ?? 0) + calls }),
    inputTokens: group.inputTokens + Number(row.input_tokens ?? 0),
    outputTokens: group.outputTokens + Number(row.output_tokens ?? 0),
    totalTokens: group.totalTokens + Number(row.total_tokens ?? 0),
    cost: group.cost + Number(row.cost_usd ?? 0),
  };
}

function namesOf(row: Row, by: readonly Dimension[]): Partial<Record<Dimension, string>> {
  const names = by.flatMap((dimension) => {
    const value = row[dimension === "session" ? "session_id" : dimension];
    return value === null || value === undefined ? [] : [[dimension, String(value)]];
  });
  return Object.fromEntries(names);
}

function keyOf(names: Partial<Record<Dimension, string>>, by: readonly Dimension[]): string {
  return JSON.stringify(by.map((dimension) => names[dimension] ?? null));
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
  const key = (group: GroupNumbers) => keyOf(group, by);
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
