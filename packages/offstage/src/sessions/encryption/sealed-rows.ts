// Encrypts the sealed columns of rows. Ids, times, status, names of agents, models and tools, and token counts stay readable.
import type { Row } from "../ports/store-driver.ts";
import type { TableName } from "../ports/tables.ts";
import { columnsOf } from "../rows/check-row.ts";
import type { Sealer } from "./sealer.ts";

/** Encrypts and decrypts rows. */
export interface RowSealer {
  seal(table: TableName, row: Row): Row;
  /** Throws if a column was modified, moved, or encrypted with a key that was not passed. */
  open(table: TableName, row: Row): Row;
  /** True if every sealed column is encrypted with the current key. */
  isCurrent(table: TableName, row: Row): boolean;
}

export function rowSealer(sealer: Sealer): RowSealer {
  return {
    seal: (table, row) =>
      changeSealed(table, row, (text, column, place) => {
        const sealed = sealer.seal(place, text);
        return column.isJson ? JSON.stringify(sealed) : sealed;
      }),
    open: (table, row) =>
      changeSealed(table, row, (stored, column, place) => {
        const sealed = column.isJson ? String(JSON.parse(stored)) : stored;
        const text = sealer.open(place, sealed);
        if (text === undefined) throw new Error(`its column "${column.name}" was modified, or belongs to another row`);
        return text;
      }),
    isCurrent: (table, row) =>
      sealedColumns(table).every(({ name, isJson }) => {
        const stored = row[name];
        if (typeof stored !== "string") return true;
        const sealed = isJson ? stored.slice(1, -1) : stored;
        return sealer.isCurrent(sealed);
      }),
  };
}

interface SealedColumn {
  readonly name: string;
  readonly isJson: boolean;
}

type Change = (text: string, column: SealedColumn, place: string) => string;

// The place of a value binds it to its table and to the rest of its row: tenant, session, position, role, time, and which other
// values there are. Columns that are null do not count, so that a column which is added later changes nothing.
function changeSealed(table: TableName, row: Row, change: Change): Row {
  const place = JSON.stringify([
    table,
    columnsOf(table).flatMap(([name, { isSealed }]): unknown[] => {
      const value = row[name] ?? null;
      if (value === null || issued.has(`${table}.${name}`)) return [];
      return isSealed ? [name] : [[name, value]];
    }),
  ]);
  const changed = sealedColumns(table).flatMap((column) => {
    const text = row[column.name];
    return typeof text === "string" ? [[column.name, change(text, column, `${place} ${column.name}`)]] : [];
  });
  return changed.length === 0 ? row : { ...row, ...Object.fromEntries(changed) };
}

// The back end sets these columns after the row was encrypted.
const issued: ReadonlySet<string> = new Set(["sessions.activity", "runs.seq"]);

const lists = new Map<TableName, readonly SealedColumn[]>();

function sealedColumns(table: TableName): readonly SealedColumn[] {
  const known = lists.get(table);
  if (known !== undefined) return known;
  const sealed = columnsOf(table).filter(([, column]) => column.isSealed === true);
  const columns = sealed.map(([name, { type }]) => ({ name, isJson: type === "json" }));
  lists.set(table, columns);
  return columns;
}

/** True if a column of the table is sealed. */
export function isSealedColumn(table: TableName, name: string): boolean {
  return sealedColumns(table).some((column) => column.name === name);
}
