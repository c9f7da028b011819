// Checks rows that were read: every column must have its type. A row that does not is damaged; it is reported and skipped, never removed.
import { parseJson } from "../../base/json.ts";
import { messageOf, OffstageError } from "../../errors.ts";
import type { Row } from "../ports/store-driver.ts";
import { type Column, type ColumnType, type RowOf, type TableName, tables } from "../ports/tables.ts";

/** Reports a row that cannot be read. If it throws, the read fails; otherwise the row is skipped. */
export type Report = (error: OffstageError) => void;

/** Returns the row with its type; throws if a column has an unexpected value. */
export function checkRow<Name extends TableName>(table: Name, row: Row): RowOf<Name> {
  for (const [name, column] of columnsOf(table)) {
    const value = row[name];
    const isFit = value === null || value === undefined ? column.isOptional === true : fits[column.type](value);
    if (!isFit) throw new Error(`its column "${name}" has an unexpected value`);
  }
  return row as unknown as RowOf<Name>;
}

const columnLists = new Map<TableName, readonly (readonly [string, Column])[]>(
  (Object.keys(tables) as TableName[]).map((table) => [table, Object.entries(tables[table].columns)]),
);

/** The columns of a table, by name. */
export function columnsOf(table: TableName): readonly (readonly [string, Column])[] {
  return columnLists.get(table) ?? [];
}

const fits: Readonly<Record<ColumnType, (value: unknown) => boolean>> = {
  text: (value) => typeof value === "string",
  // Parsed where it is used.
  json: (value) => typeof value === "string",
  integer: (value) => Number.isSafeInteger(value),
  real: (value) => typeof value === "number" && Number.isFinite(value),
  boolean: (value) => typeof value === "boolean",
  time: (value) => typeof value === "string" && !Number.isNaN(Date.parse(value)),
};

/** The parsed value of a JSON column; undefined for null. Throws if it is not JSON, or not what `isFit` accepts. */
export function jsonOf<T>(text: string | null, isFit: (value: unknown) => value is T): T | undefined {
  if (text === null) return undefined;
  const value: unknown = parseJson(text);
  if (!isFit(value)) throw otherForm();
  return value;
}

/** The error for a value of an unexpected form. */
export function otherForm(): Error {
  return new Error("it has an unexpected form");
}

/** The error for data that is not as it was written. */
export function corrupt(name: string, cause: unknown): OffstageError {
  return new OffstageError("store-corrupt", `Damage in ${name}: ${messageOf(cause)}. Nothing was changed.`, { cause });
}
