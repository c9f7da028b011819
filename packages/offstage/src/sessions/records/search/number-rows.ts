// The rows that numbers are made of.
import type { SessionCells } from "../../head/session-cell.ts";
import type { Condition, Grouping, Row } from "../../ports/store-driver.ts";
import type { RunRow } from "../../ports/tables.ts";
import { isWithin, type TimeRange } from "../lists.ts";
import { headsOf, isOpen } from "../run-list.ts";
import { readInfo } from "../run-reader.ts";

/** The columns that numbers add up. */
export const tokenSums = ["input_tokens", "output_tokens", "total_tokens", "cost_usd"] as const;

/** Runs that began within the options, with the status that lists show. */
export async function runRows(
  cells: SessionCells,
  condition: Condition | undefined,
  options: TimeRange,
): Promise<RunRow[]> {
  const { rows } = cells.context;
  const where = [...(condition === undefined ? [] : [condition]), ...isWithin("started_at", options)];
  const found = await rows.select({ table: "runs", where });
  const heads = await headsOf(rows, found.filter(isOpen));
  return found.flatMap((row) => {
    const info = readInfo(rows, row, heads.get(row.session_id));
    return info === undefined ? [] : [{ ...row, status: info.status }];
  });
}

/** The tokens and durations of steps by model, for each of these runs. A step without a finish reason is a model call that failed. */
export async function stepsOf(cells: SessionCells, runs: readonly RunRow[]): Promise<ReadonlyMap<string, Row[]>> {
  const groups = { by: ["run_id", "model"], sum: tokenSums, values: "duration_ms" };
  const isFinished = { column: "finish_reason", from: "" };
  const isOfFew = { column: "run_id", in: runs.map(({ run_id }) => run_id) };
  const where = runs.length > mostListed ? [isFinished] : [isFinished, isOfFew];
  const rows = await grouped(cells, "steps", { where, groups, options: {} });
  return Map.groupBy(rows, ({ run_id }) => String(run_id));
}

// More runs than this are not listed in a condition.
const mostListed = 500;

type NumbersTable = "runs" | "steps" | "tool_calls";

interface Groups {
  readonly where?: readonly Condition[];
  readonly groups: Grouping;
  readonly options: TimeRange;
}

/** The rows of groups. */
export async function grouped(
  cells: SessionCells,
  table: NumbersTable,
  { where = [], groups, options }: Groups,
): Promise<Row[]> {
  const all = [...where, ...isWithin("started_at", options)];
  return cells.context.rows.selectRaw({ table, where: all, groups });
}
