// Makes the statements that create tables, columns and indexes. A person who opens the database reads their result.
import { type Column, type Order, type Table, type TableName, tables } from "../../ports/tables.ts";
import type { Dialect } from "./dialect.ts";

export const tableNames: readonly TableName[] = Object.keys(tables) as TableName[];

/** A table, and the columns of an order or of the key, in order. */
export const tableOf = (name: TableName): Table => tables[name];
export const columnsOf = ({ scope, by }: Order): readonly string[] => [...scope, ...by];

/** Creates a table, with notes as comments in it. SQLite keeps them. */
export function createTable(dialect: Dialect, name: TableName): string {
  const table = tableOf(name);
  const columns = Object.entries(table.columns).map(([column, { isOptional, note }]) => {
    const required = isOptional ? "" : " NOT NULL";
    return `  ${defineColumn(dialect, table, column)}${required},${note === undefined ? "" : ` -- ${note}`}`;
  });
  const key = `  PRIMARY KEY (${columnsOf(table.key).join(", ")})`;
  return [`CREATE TABLE IF NOT EXISTS ${dialect.table(name)} (`, `  -- ${table.note}`, ...columns, key, ")"].join("\n");
}

/**
 * Adds a column to a table of an older version. It may be null even if the column of a new table may not: the rows that are
 * already there have no value.
 */
export function addColumn(dialect: Dialect, name: TableName, column: string): string {
  const ifMissing = dialect.name === "postgres" ? "IF NOT EXISTS " : "";
  return `ALTER TABLE ${dialect.table(name)} ADD COLUMN ${ifMissing}${defineColumn(dialect, tableOf(name), column)}`;
}

/** Creates the indexes of a table: one for each order, without the rows that are not part of it. */
export function createIndexes(dialect: Dialect, name: TableName): readonly string[] {
  const table = tableOf(name);
  return Object.entries(table.orders).map(([order, { scope, by }]) => {
    const columns = columnsOf({ scope, by });
    const required = sparseColumns(table, columns).map((column) => `${column} IS NOT NULL`);
    const condition = required.length === 0 ? "" : ` WHERE ${required.join(" AND ")}`;
    const index = `${name}_by_${order}`;
    return `CREATE INDEX IF NOT EXISTS ${index} ON ${dialect.table(name)} (${columns.join(", ")})${condition}`;
  });
}

/** The columns that may be null. */
export function sparseColumns(table: Table, columns: readonly string[]): readonly string[] {
  return columns.filter((column) => table.columns[column]?.isOptional);
}

// Postgres must order the text of keys by bytes, whatever the language of the database.
function defineColumn(dialect: Dialect, table: Table, column: string): string {
  const { type } = table.columns[column] as Column;
  const isOrdered = [table.key, ...Object.values(table.orders)].some((order) => columnsOf(order).includes(column));
  const collation = dialect.name === "postgres" && type === "text" && isOrdered ? ' COLLATE "C"' : "";
  return `${column} ${dialect.types[type]}${collation}`;
}
