// Encrypts the sealed columns of rows. Ids, times, status, names of agents, models and tools, and token counts stay readable.
import type { Row } from "../ports/store-driver.ts";
import { type TableName, tables } from "../ports/tables.ts";
import type { Sealer } from "./sealer.ts";

/** The row with its sealed columns encrypted. */
export function sealRow(sealer: Sealer, table: TableName, row: Row): Row {
  return changeSealed(table, row, (text, { isJson, place }) => {
    const sealed = sealer.seal(place, text);
    return isJson ? JSON.stringify(sealed) : sealed;
  });
}

/** The row as it was. Throws if a column was modified, moved, or encrypted with a key that was not passed. */
export function unsealRow(sealer: Sealer, table: TableName, row: Row): Row {
  return changeSealed(table, row, (stored, { name, isJson, place }) => {
    const text = sealer.open(place, isJson ? String(JSON.parse(stored)) : stored);
    if (text === undefined) throw new Error(`its column "${name}" was modified, or belongs to another row`);
    return text;
  });
}

/** True if every sealed column is encrypted with the current key. */
export function isSealedWith(sealer: Sealer, table: TableName, row: Row): boolean {
  return sealedTexts(table, row).every(({ text, isJson }) => sealer.isCurrent(isJson ? text.slice(1, -1) : text));
}

interface SealedText {
  readonly name: string;
  readonly text: string;
  readonly isJson: boolean;
}

function sealedTexts(table: TableName, row: Row): readonly SealedText[] {
  return Object.entries(tables[table].columns).flatMap(([name, { isSealed, type }]) => {
    const text = row[name];
    return isSealed && typeof text === "string" ? [{ name, text, isJson: type === "json" }] : [];
  });
}

type Change = (text: string, column: { name: string; isJson: boolean; place: string }) => string;

// The place of a value binds it to its table and to the rest of its row: tenant, session, position, role, time, and which other
// values there are. Columns that are null do not count, so that a column which is added later changes nothing.
function changeSealed(table: TableName, row: Row, change: Change): Row {
  const columns = Object.entries(tables[table].columns).flatMap(([name, { isSealed }]): unknown[] => {
    const value = row[name] ?? null;
    if (value === null || issued.has(`${table}.${name}`)) return [];
    return isSealed ? [name] : [[name, value]];
  });
  const place = JSON.stringify([table, columns]);
  const changed = sealedTexts(table, row).map(({ name, text, isJson }) => {
    return [name, change(text, { name, isJson, place: `${place} ${name}` })] as const;
  });
  return changed.length === 0 ? row : { ...row, ...Object.fromEntries(changed) };
}

// The back end sets these columns after the row was encrypted.
const issued: ReadonlySet<string> = new Set(["sessions.activity", "runs.seq"]);
