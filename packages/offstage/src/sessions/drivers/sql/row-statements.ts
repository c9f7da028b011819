// Makes the statements for rows: read by key, read a range, put, remove.
import { OffstageError } from "../../../errors.ts";
import type { RowRange } from "../../ports/store-driver.ts";
import type { Column, ColumnType, Order, Table, TableName } from "../../ports/tables.ts";
import { columnsOf, sparseColumns, tableOf } from "./create-table.ts";
import type { Dialect } from "./dialect.ts";

export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Makes the expression for the value of a key column. */
export type KeyValue = (index: number, type: ColumnType) => string;

/** All columns of a table, as drivers return them. */
export function readColumns(dialect: Dialect, name: TableName): string {
  const columns = Object.entries(tableOf(name).columns);
  return columns.map(([column, { type }]) => named(dialect.toRead(column, type), column)).join(", ");
}

/** Reads the row with a key. */
export function getRow(dialect: Dialect, name: TableName, keyValue: KeyValue): string {
  const key = columnsOf(tableOf(name).key);
  return `SELECT ${readColumns(dialect, name)} FROM ${dialect.table(name)} WHERE ${hasKey(name, key, keyValue)}`;
}

/** Finds the row with a key if it has given values in the columns of `where`; null equals null. */
export function hasRow(
  dialect: Dialect,
  name: TableName,
  { keyValue, where }: { readonly keyValue: KeyValue; readonly where: readonly string[] },
): string {
  const key = columnsOf(tableOf(name).key);
  const conditions = where.map((column) => `${column} IS ?`);
  return `SELECT 1 FROM ${dialect.table(name)} WHERE ${[hasKey(name, key, keyValue), ...conditions].join(" AND ")}`;
}

/** Removes the rows whose key starts with `count` values. Fewer than those of the scope are refused. */
export function removeRows(dialect: Dialect, name: TableName, count: number, keyValue: KeyValue): string {
  const key = keyPrefix(name, count);
  return `DELETE FROM ${dialect.table(name)} WHERE ${hasKey(name, key, keyValue)}`;
}

interface PutOptions {
  /**
   * Leaves a row as it is if a put would change its place in a further order. Such a put costs less: the database need not
   * maintain the indexes of these orders.
   */
  readonly inPlace?: boolean | undefined;
}

/** Puts rows: `source` is VALUES or a SELECT with a value for each column. */
export function putRows(dialect: Dialect, name: TableName, source: string, { inPlace }: PutOptions = {}): string {
  const columns = Object.keys(tableOf(name).columns);
  const key = columnsOf(tableOf(name).key);
  const kept = inPlace ? orderColumns(name) : [];
  const changed = columns.filter((column) => !key.includes(column) && !kept.includes(column));
  const isSame = kept.map((column) => `${name}.${column} IS excluded.${column}`);
  return [
    `INSERT INTO ${dialect.table(name)} (${columns.join(", ")}) ${source}`,
    `ON CONFLICT (${key.join(", ")}) DO UPDATE SET ${changed.map((column) => `${column} = excluded.${column}`).join(", ")}`,
    ...(isSame.length === 0 ? [] : [`WHERE ${isSame.join(" AND ")}`]),
  ].join(" ");
}

/** The columns of the further orders of a table that are not part of its key. */
function orderColumns(name: TableName): readonly string[] {
  const { key, orders } = tableOf(name);
  const inKey = new Set(columnsOf(key));
  return [...new Set(Object.values(orders).flatMap(columnsOf))].filter((column) => !inKey.has(column));
}

/** Reads a range. Ranges that differ only in their values have the same text. */
export function readRange(dialect: Dialect, range: RowRange): Statement {
  const { table: name, prefix, from, before, limit, reverse = false } = range;
  const columns = columnsOf(orderOf(name, range.order));
  const rest = columns.slice(prefix.length);
  const values: unknown[] = [];
  const compare = (column: string, operator: string, value: string | number): string => {
    const type = typeOf(name, column);
    return `${column} ${operator} ${dialect.parameter(values.push(bound(value, type)), type)}`;
  };
  const [next = ""] = rest;
  const conditions = [
    ...prefix.map((value, index) => compare(columns[index] ?? "", "=", value)),
    ...(from === undefined ? [] : [compare(next, ">=", from)]),
    ...(before === undefined ? [] : [compare(next, "<", before)]),
    ...sparseColumns(tableOf(name), columns).map((column) => `${column} IS NOT NULL`),
  ];
  const direction = reverse ? " DESC" : "";
  const text = [
    `SELECT ${readColumns(dialect, name)} FROM ${dialect.table(name)} WHERE ${conditions.join(" AND ")}`,
    ...(rest.length === 0 ? [] : [`ORDER BY ${rest.map((column) => column + direction).join(", ")}`]),
    ...(limit === undefined ? [] : [`LIMIT ${dialect.parameter(values.push(limit), "integer")}`]),
  ];
  return { text: text.join(" "), values };
}

/** An order of a table; without a name, its key. */
export function orderOf(name: TableName, order: string | undefined): Order {
  const table: Table = tableOf(name);
  if (order === undefined) return table.key;
  const found = Object.hasOwn(table.orders, order) ? table.orders[order] : undefined;
  if (found === undefined) throw unknown(`order "${order}"`, name);
  return found;
}

/** The type of a column. Column names become part of a statement, so that an unknown one is refused. */
export function typeOf(name: TableName, column: string): ColumnType {
  const { columns } = tableOf(name);
  const found: Column | undefined = Object.hasOwn(columns, column) ? columns[column] : undefined;
  if (found === undefined) throw unknown(`column "${column}"`, name);
  return found.type;
}

/** A bound of a range. That of an integer column is an integer: Postgres refuses fractions. */
export function bound(value: string | number, type: ColumnType): string | number {
  return type === "integer" ? Math.ceil(Number(value)) : value;
}

/** An expression under a name, unless it is that name. */
export function named(expression: string, name: string): string {
  return expression === name ? name : `${expression} AS ${name}`;
}

function hasKey(name: TableName, columns: readonly string[], keyValue: KeyValue): string {
  return columns.map((column, index) => `${name}.${column} = ${keyValue(index, typeOf(name, column))}`).join(" AND ");
}

/** The first columns of a key, at least those of its scope. */
export function keyPrefix(name: TableName, count: number): readonly string[] {
  const { key } = tableOf(name);
  const columns = columnsOf(key);
  if (count >= key.scope.length && count <= columns.length) return columns.slice(0, count);
  const expected = key.by.length === 0 ? `${columns.length}` : `${key.scope.length} to ${columns.length}`;
  throw new OffstageError("invalid-argument", `A key of the table "${name}" has ${expected} values; found ${count}.`);
}

function unknown(what: string, name: TableName): OffstageError {
  return new OffstageError("invalid-argument", `The table "${name}" has no ${what}.`);
}
