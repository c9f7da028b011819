// Answers a selection from rows, as a back end's own `select` does it. For back ends that have none.
import type { Condition, Grouping, Row, RowRange, Selection, Value } from "../ports/store-driver.ts";
import { type TableName, tables } from "../ports/tables.ts";

/** Reads a range of rows of a namespace. */
type ReadRows = (table: TableName, range: Partial<Omit<RowRange, "table">>) => Promise<readonly Row[]>;

/** The answer to a selection, from the rows that it needs. */
export async function answerFrom(read: ReadRows, selection: Selection): Promise<Row[]> {
  const { table, where, newestBy, limit } = selection;
  if (newestBy === undefined) return selectFrom(await readAll(read, selection), selection).slice(0, limit);
  const [column = ""] = tables[table].orders[newestBy]?.by ?? [];
  const size = limit === undefined ? undefined : Math.max(limit, 100);
  const bound = where.find((condition) => condition.column === column && "before" in condition);
  const found: Row[] = [];
  let before = bound && "before" in bound ? Number(bound.before) : undefined;
  for (;;) {
    const page = await read(table, { order: newestBy, reverse: true, before, limit: size });
    for (const row of selectFrom(page, { where })) found.push(row);
    if (size === undefined || page.length < size || found.length >= (limit ?? 0)) return found.slice(0, limit);
    before = Number(page.at(-1)?.[column]);
  }
}

// The rows of the sessions that a condition names, or of all sessions.
async function readAll(read: ReadRows, { table, where }: Selection): Promise<Row[]> {
  const named = where.find((condition) => condition.column === "session_id" && "in" in condition);
  const heads = named === undefined ? await read("sessions", { order: "activity" }) : [];
  const ids = named && "in" in named ? named.in : heads.map(({ session_id }) => session_id);
  const rows = await Promise.all(ids.map((id) => read(table, { prefix: [String(id)] })));
  return rows.flat();
}

/** The rows that meet the conditions, or their groups. */
function selectFrom(rows: readonly Row[], { where, groups }: Pick<Selection, "where" | "groups">): Row[] {
  const found = rowsThatMeet(rows, where);
  return groups === undefined ? found : addUp(found, groups);
}

/** The rows that meet all conditions. */
export function rowsThatMeet<R extends Row>(rows: readonly R[], where: readonly Condition[]): R[] {
  return rows.filter((row) => where.every((condition) => isMet(condition, row[condition.column] ?? null)));
}

function isMet(condition: Condition, value: Value): boolean {
  if ("in" in condition) return condition.in.includes(value);
  if (value === null) return false;
  if ("contains" in condition) return fold(String(value)).includes(fold(condition.contains));
  const { from = value, before } = condition;
  return value >= from && (before === undefined || value < before);
}

interface Group {
  readonly values: Record<string, Value>;
  readonly sums: Record<string, number>;
  readonly distinct: Set<Value>;
  readonly list: number[];
  count: number;
}

/** One row for each group: its values, `count`, each sum, and `values`. */
function addUp(rows: readonly Row[], grouping: Grouping): Row[] {
  const groups = new Map<string, Group>();
  for (const row of rows) addTo(groups, row, grouping);
  return [...groups.values()].map(({ values, sums, distinct, list, count }) => ({
    ...values,
    ...sums,
    count: grouping.distinct === undefined ? count : distinct.size,
    ...(grouping.values !== undefined && { values: JSON.stringify(list) }),
  }));
}

function addTo(groups: Map<string, Group>, row: Row, { by, sum, distinct, values }: Grouping): void {
  const own = Object.fromEntries(
    by.map((column) =>
      typeof column === "string" ? [column, row[column] ?? null] : ["day", String(row[column.day]).slice(0, 10)],
    ),
  );
  const key = JSON.stringify(Object.values(own));
  const group = groups.get(key) ?? { values: own, sums: {}, distinct: new Set(), list: [], count: 0 };
  groups.set(key, group);
  group.count++;
  for (const column of sum) group.sums[column] = (group.sums[column] ?? 0) + Number(row[column] ?? 0);
  if (distinct !== undefined && row[distinct] !== null) group.distinct.add(row[distinct] ?? null);
  const value = values === undefined ? null : row[values];
  if (typeof value === "number") group.list.push(value);
}

// One form for all cases of a letter. The lower case of a Greek sigma depends on whether it ends its word.
function fold(text: string): string {
  return text.toLowerCase().replaceAll("ς", "σ");
}
