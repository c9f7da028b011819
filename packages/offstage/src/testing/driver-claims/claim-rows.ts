// The rows and commits that the claims about drivers use.
import assert from "node:assert/strict";
import type { Check, Committed, Key, Put, Row, StoreDriver, Write } from "../../sessions/ports/store-driver.ts";
import {
  type Column,
  type Order,
  type RowOf,
  type Table,
  type TableName,
  tables,
} from "../../sessions/ports/tables.ts";

/** A moment as a time column holds it. */
export function timeAt(ms: number): string {
  return new Date(Date.UTC(2026, 0, 2, 3, 4, 5) + ms).toISOString();
}

const defaults = { text: "", json: "{}", integer: 0, real: 0, boolean: false, time: timeAt(0) } as const;

/** A row with these values. Other columns are null, or empty if null is not allowed. */
export function rowOf<Name extends TableName>(table: Name, values: Partial<RowOf<Name>>): Row {
  const empty = Object.entries<Column>(tables[table].columns).map(([name, { type, isOptional }]) => [
    name,
    isOptional ? null : defaults[type],
  ]);
  return { ...Object.fromEntries(empty), ...values };
}

export function put<Name extends TableName>(table: Name, values: Partial<RowOf<Name>>): Put {
  return { table, row: rowOf(table, values) };
}

/** A message of session "s" of namespace "n". */
export function message(seq: number, values: Partial<RowOf<"messages">> = {}): Put {
  return put("messages", { namespace: "n", session_id: "s", seq, ...values });
}

/** A session of namespace "n". */
export function session(id: string, values: Partial<RowOf<"sessions">> = {}): Put {
  return put("sessions", { namespace: "n", session_id: id, ...values });
}

export function commit(driver: StoreDriver, checks: readonly Check[], writes: readonly Write[]): Promise<Committed> {
  return driver.commit({ label: "session.add", checks, writes });
}

/** Writes without checks, and returns the number that the store issued, if any. */
export async function write(driver: StoreDriver, ...writes: readonly Write[]): Promise<number | undefined> {
  const committed = await commit(driver, [], writes);
  assert.equal(committed.refused, undefined, "a commit without checks was refused");
  return committed.number;
}

/** Reads all messages of session "s" of namespace "n". */
export function messages(driver: StoreDriver): Promise<Row[]> {
  return driver.read({ table: "messages", prefix: ["n", "s"] });
}

/** The values of one column. */
export function column(rows: readonly (Row | undefined)[], name: string): unknown[] {
  return rows.map((row) => row?.[name]);
}

export function rowsOf(puts: readonly Put[]): Row[] {
  return puts.map(({ row }) => row);
}

export function tableOf(name: TableName): Table {
  return tables[name];
}

/** The key of a row. */
export function keyOf(table: TableName, row: Row): Key {
  const { scope, by } = tableOf(table).key;
  return [...scope, ...by].map((name) => row[name] as string | number);
}

/** An order of a table by its name; without a name, its key. */
export function orderOf(table: TableName, name: string | undefined): Order {
  const { key, orders } = tableOf(table);
  return name === undefined ? key : (orders[name] as Order);
}
