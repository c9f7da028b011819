// The answers that a driver must give, computed in the plainest way from a list of all rows of a table.
import type { Condition, Grouping, Key, Row, RowRange, Selection, Value } from "../../sessions/ports/store-driver.ts";
import { orderOf } from "./claim-rows.ts";

/** The rows of a range. */
export function readReference(rows: readonly Row[], range: RowRange): Row[] {
  const { prefix, from, before, limit = rows.length, reverse = false } = range;
  const { scope, by } = orderOf(range.table, range.order);
  const columns = [...scope, ...by];
  const next = columns[prefix.length] ?? "";
  const found = rows
    .filter((row) => columns.every((name) => row[name] !== null))
    .filter((row) => prefix.every((value, index) => row[columns[index] as string] === value))
    .filter((row) => from === undefined || (row[next] as number) >= from)
    .filter((row) => before === undefined || (row[next] as number) < before)
    .sort((a, b) => compareKeys(valuesOf(a, by), valuesOf(b, by)));
  return (reverse ? found.reverse() : found).slice(0, limit);
}

/** Compares text by its UTF-8 bytes and numbers by their value. */
function compareKeys(a: Key, b: Key): number {
  const index = a.findIndex((value, at) => value !== b[at]);
  const [one, other] = [a[index], b[index]];
  if (typeof one === "string" && typeof other === "string") return Buffer.compare(Buffer.from(one), Buffer.from(other));
  return Number(one ?? 0) - Number(other ?? 0);
}

/** The rows of a selection without groups. Rows in no particular order unless it asks for one. */
export function selectReference(rows: readonly Row[], selection: Selection): Row[] {
  const { where, newestBy, limit = rows.length, groups } = selection;
  let found = rows.filter((row) => where.every((condition) => isMet(condition, row[condition.column] ?? null)));
  if (groups !== undefined) return groupReference(found, groups);
  if (newestBy !== undefined) {
    const { by } = orderOf(selection.table, newestBy);
    found = found.sort((a, b) => compareKeys(valuesOf(b, by), valuesOf(a, by)));
  }
  return found.slice(0, limit);
}

function isMet(condition: Condition, value: Value): boolean {
  if ("in" in condition) return condition.in.includes(value);
  if (value === null) return false;
  if ("contains" in condition) return String(value).toLowerCase().includes(condition.contains.toLowerCase());
  const { from = value, before } = condition;
  return value >= from && (before === undefined || value < before);
}

function groupReference(rows: readonly Row[], { by, sum, distinct, values }: Grouping): Row[] {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const key = JSON.stringify(by.map((each) => partOf(row, each)));
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()].map((members) => ({
    ...Object.fromEntries(by.map((each) => [typeof each === "string" ? each : "day", partOf(members[0] ?? {}, each)])),
    count: distinct === undefined ? members.length : new Set(members.map((row) => row[distinct])).size,
    ...Object.fromEntries(sum.map((name) => [name, members.reduce((total, row) => total + Number(row[name] ?? 0), 0)])),
    ...(values !== undefined && {
      values: JSON.stringify(members.map((row) => row[values]).filter((value) => value !== null)),
    }),
  }));
}

function partOf(row: Row, part: string | { readonly day: string }): Value {
  return typeof part === "string" ? (row[part] ?? null) : String(row[part.day]).slice(0, 10);
}

function valuesOf(row: Row, names: readonly string[]): Key {
  return names.map((name) => row[name] as string | number);
}
