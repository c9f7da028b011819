// The differences between the SQL of SQLite and that of Postgres.
import type { Value } from "../../ports/store-driver.ts";
import type { ColumnType } from "../../ports/tables.ts";

export interface Dialect {
  readonly name: "sqlite" | "postgres";
  /** The type of a column. */
  readonly types: Readonly<Record<ColumnType, string>>;
  /** A table, with its schema if there is one. */
  table(name: string): string;
  /** The parameter with this number, counted from 1. */
  parameter(number: number, type: ColumnType): string;
  /** A condition: the column has one of the values of a parameter made by `toList`. */
  isOneOf(column: string, type: ColumnType, number: number): string;
  toList(values: readonly Value[]): unknown;
  /** A condition: the column matches a LIKE pattern in any case of ASCII letters. */
  isLike(column: string, type: ColumnType, number: number): string;
  /** A column as drivers compare it: text by its UTF-8 bytes. */
  toCompare(column: string, type: ColumnType): string;
  /** A column as drivers return it. Booleans of SQLite are still 0 or 1. */
  toRead(column: string, type: ColumnType): string;
  /** The UTC day of a time. */
  toDay(column: string): string;
  /** The values of a group without nulls, as JSON. */
  toJsonList(column: string, type: ColumnType): string;
}

export const sqliteDialect: Dialect = {
  name: "sqlite",
  types: { text: "TEXT", json: "TEXT", time: "TEXT", integer: "INTEGER", real: "REAL", boolean: "INTEGER" },
  table: (name) => name,
  parameter: () => "?",
  isOneOf: (column) => `${column} IN (SELECT value FROM json_each(?))`,
  toList: (values) => JSON.stringify(values),
  isLike: (column) => `${column} LIKE ? ESCAPE '\\'`,
  toCompare: (column) => column,
  toRead: (column) => column,
  toDay: (column) => `substr(${column}, 1, 10)`,
  toJsonList: (column, type) => {
    // json_group_array() of older versions rounds to 15 digits.
    const value = { real: `format('%!.17g', ${column})`, boolean: `iif(${column}, 'true', 'false')` }[type as string];
    return `'[' || coalesce(group_concat(${value ?? `json_quote(${column})`}) FILTER (WHERE ${column} IS NOT NULL), '') || ']'`;
  },
};

const postgresTypes: Dialect["types"] = {
  text: "text",
  // Not jsonb, which changes the order of keys and refuses an escaped NUL.
  json: "json",
  time: "timestamptz",
  integer: "bigint",
  real: "double precision",
  boolean: "boolean",
};

/** The dialect of Postgres for tables in a schema. */
export function postgresDialect(schema: string): Dialect {
  const castOf = (type: ColumnType): string => (type === "json" ? "text" : postgresTypes[type]);
  const plain = (column: string, type: ColumnType): string => (type === "json" ? `${column}::text` : column);
  return {
    name: "postgres",
    types: postgresTypes,
    table: (name) => `"${schema}".${name}`,
    parameter: (number, type) => `$${number}::${castOf(type)}`,
    isOneOf: (column, type, number) => `${plain(column, type)} = ANY ($${number}::${castOf(type)}[])`,
    toList: (values) => values,
    isLike: (column, type, number) => `${plain(column, type)} ILIKE $${number}::text`,
    toCompare: (column, type) =>
      type === "text" || type === "json" ? `${plain(column, type)} COLLATE "C"` : plain(column, type),
    toRead: (column, type) =>
      type === "time" ? `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')` : plain(column, type),
    toDay: (column) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD')`,
    toJsonList: (column, type) =>
      `coalesce(json_agg(${plain(column, type)}) FILTER (WHERE ${column} IS NOT NULL), '[]')::text`,
  };
}
