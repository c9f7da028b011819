// Rows on their way to a back end and back. Text that not every back end can store (NUL and lone surrogates) is readable with U+FFFD
// in its column, and exact as JSON in the column `exact`. A row that was read must have a value of the right type in every column;
// otherwise it is damaged: it is reported and skipped, never removed.
import { isObject, parseJson } from "../../base/json.ts";
import { shownValue } from "../../base/options.ts";
import { messageOf, OffstageError } from "../../errors.ts";
import type { Row, Value, Write } from "../ports/store-driver.ts";
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

/** The error for data that is not as it was written. */
export function corrupt(name: string, cause: unknown): OffstageError {
  return new OffstageError("store-corrupt", `Damage in ${name}: ${messageOf(cause)}. Nothing was changed.`, { cause });
}

/** The most bytes of an id. */
export const longestId = 512;

/** True if every back end can store the text as it is. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/** The row with storable texts only, and with the exact ones in `exact`. JSON needs no care: it escapes them itself. */
export function storableRow(row: Row): Row {
  let exact: Record<string, string> | undefined;
  for (const name in row) {
    const value = row[name];
    if (typeof value !== "string" || isStorable(value)) continue;
    exact ??= {};
    exact[name] = value;
  }
  if (exact === undefined) return row;
  const readable = Object.entries(exact).map(([name, text]) => [name, text.toWellFormed().replaceAll("\0", "\ufffd")]);
  return { ...row, ...Object.fromEntries(readable), exact: JSON.stringify(exact) };
}

/** The row with its exact texts. Throws if `exact` is no JSON object of texts. */
export function exactRow(row: Row): Row {
  if (typeof row.exact !== "string") return row;
  const exact = parseJson(row.exact);
  if (!isObject(exact) || !Object.values(exact).every((value) => typeof value === "string"))
    throw new Error('its column "exact" has an unexpected form');
  return { ...row, ...(exact as Record<string, Value>), exact: null };
}

/** How rows that were read are opened. */
export interface OpenRowsOptions {
  /** Decrypts a row. Default: rows are not encrypted. */
  readonly decrypt?: ((row: Row) => Row) | undefined;
  /** Called for each row that cannot be read. */
  onDamage(row: Row, cause: unknown): void;
}

/** The rows as they were written, checked; undefined for one that is missing or cannot be read. */
export function openRows<Name extends TableName>(
  table: Name,
  rows: readonly (Row | undefined)[],
  { decrypt, onDamage }: OpenRowsOptions,
): (RowOf<Name> | undefined)[] {
  return rows.map((row) => {
    try {
      return row && checkRow(table, exactRow(decrypt === undefined ? row : decrypt(row)));
    } catch (cause) {
      onDamage(row as Row, cause);
      return undefined;
    }
  });
}

/** The writes with storable texts only. */
export function storableWrites(writes: readonly Write[]): Write[] {
  return writes.map((write) => ("row" in write ? { ...write, row: storableRow(write.row) } : write));
}

/** True if the value can be an id: text of 1 to 512 bytes, well-formed and without NUL. */
export function isId(value: unknown): value is string {
  return typeof value === "string" && value !== "" && isStorable(value) && Buffer.byteLength(value) <= longestId;
}

/** Throws `invalid-argument` unless the value can be an id. */
export function checkId(id: unknown, what: string): asserts id is string {
  if (isId(id)) return;
  const found = typeof id === "string" && id.length > 80 ? `text of ${Buffer.byteLength(id)} bytes` : shownValue(id);
  throw new OffstageError(
    "invalid-argument",
    `A ${what} must be text of 1 to ${longestId} bytes, without NUL and lone surrogates; found ${found}.`,
  );
}
