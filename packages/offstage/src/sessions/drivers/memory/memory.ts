// The memory driver: the rows of each order and scope in a sorted array. The reference implementation of a driver; it has no
// `select`, so the store computes answers over all scopes itself.
import { OffstageError } from "../../../errors.ts";
import type { Commit, Committed, Key, Row, RowPlace, RowRange, StoreDriver, Value } from "../../ports/store-driver.ts";
import { type Order, type Table, type TableName, tables } from "../../ports/tables.ts";

/** An order of a table, or its key. `by` ends with the columns of the key, which decide between rows that are equal otherwise. */
interface Index extends Order {
  readonly name: string;
}

/** Creates a driver that keeps rows in memory. */
export function memoryDriver(): StoreDriver {
  // Frozen rows, sorted, by the name of their order and scope. A row is the same object in all of its orders.
  const lists = new Map<string, Row[]>();
  let version = 0;
  let number = 0;

  const read = ({ table, order, prefix, from, before, limit, reverse }: RowRange): Row[] => {
    const { name, scope, by } = indexOf(table, order);
    const rows = lists.get(nameOf(name, prefix.slice(0, scope.length))) ?? [];
    const rest = prefix.slice(scope.length);
    const low = from === undefined ? rest : [...rest, from];
    const high = before === undefined ? rest : [...rest, before];
    const start = countLeading(rows, (row) => compare(row, by, low) < 0);
    const end = countLeading(rows, (row) => compare(row, by, high) < (before === undefined ? 1 : 0));
    const count = Math.min(limit ?? rows.length, Math.max(0, end - start));
    return reverse ? rows.slice(end - count, end).reverse() : rows.slice(start, start + count);
  };

  const get = ({ table, key }: RowPlace): Row | undefined => read({ table, prefix: key })[0];

  const insert = (table: TableName, row: Row): void => {
    for (const index of shapes[table].indexes) {
      const name = listOf(index, row);
      if (name === undefined) continue;
      const rows = lists.get(name) ?? [];
      lists.set(name, rows);
      const at = placeOf(rows, row, index.by);
      // An insertion by splice() copies the array, even at its end.
      if (at === rows.length) rows.push(row);
      else rows.splice(at, 0, row);
    }
  };

  const remove = (table: TableName, row: Row): void => {
    for (const index of shapes[table].indexes) {
      const name = listOf(index, row);
      const rows = name === undefined ? undefined : lists.get(name);
      if (name === undefined || rows === undefined) continue;
      rows.splice(placeOf(rows, row, index.by), 1);
      if (rows.length === 0) lists.delete(name);
    }
  };

  const put = (table: TableName, values: Row): void => {
    const { empty, keyColumns } = shapes[table];
    const row = Object.freeze({ ...empty, ...values });
    const old = get({ table, key: valuesOf(row, keyColumns) });
    if (old !== undefined) remove(table, old);
    insert(table, row);
  };

  const commit = ({ checks, writes }: Commit): Committed => {
    const current = checks.map(get);
    if (checks.some(({ where }, index) => !isMet(where, current[index]))) return { refused: current };
    for (const write of writes) {
      if (!("remove" in write)) continue;
      // From the end, where a removal moves no other rows.
      for (const row of read({ table: write.table, prefix: write.remove, reverse: true })) remove(write.table, row);
    }
    const puts = writes.filter((write) => "row" in write);
    const isNumbered = puts.some(({ numbered }) => numbered !== undefined);
    if (isNumbered) number += 1;
    for (const { table, row, numbered } of puts)
      put(table, numbered === undefined ? row : { ...row, [numbered]: number });
    return isNumbered ? { number } : {};
  };

  return {
    name: "the store in memory",
    open: async () => version,
    prepare: async (next) => {
      version = next;
    },
    get: async (places) => places.map(get),
    read: async (range) => read(range),
    commit: async (asked) => commit(asked),
    close: async () => {},
  };
}

interface Shape {
  /** A row in which every column is null. */
  readonly empty: Row;
  readonly keyColumns: readonly string[];
  /** The key, and then the other orders. */
  readonly indexes: readonly Index[];
}

const shapes = Object.fromEntries(
  Object.entries<Table>(tables).map(([table, { columns, key, orders }]): [string, Shape] => {
    const keyColumns = [...key.scope, ...key.by];
    const others = Object.entries(orders).map(([order, { scope, by }]): Index => {
      return { name: `${table}.${order}`, scope, by: [...new Set([...by, ...keyColumns])] };
    });
    const empty = Object.fromEntries(Object.keys(columns).map((column) => [column, null]));
    return [table, { empty, keyColumns, indexes: [{ name: table, ...key }, ...others] }];
  }),
) as Record<TableName, Shape>;

function indexOf(table: TableName, order: string | undefined): Index {
  const name = order === undefined ? table : `${table}.${order}`;
  const found = shapes[table].indexes.find((index) => index.name === name);
  if (found === undefined) throw new OffstageError("invalid-argument", `The table "${table}" has no order "${order}".`);
  return found;
}

function isMet(where: Row | undefined, row: Row | undefined): boolean {
  if (where === undefined || row === undefined) return where === row;
  return Object.entries(where).every(([column, value]) => row[column] === value);
}

// No text contains a NUL.
function nameOf(name: string, values: Key): string {
  return `${name}\0${values.join("\0")}`;
}

/** The list that a row belongs to; undefined if the row is not part of the order. */
function listOf({ name, scope, by }: Index, row: Row): string | undefined {
  const isPart = [...scope, ...by].every((column) => row[column] !== null);
  return isPart ? nameOf(name, valuesOf(row, scope)) : undefined;
}

function valuesOf(row: Row, columns: readonly string[]): Key {
  return columns.map((column) => row[column] as string | number);
}

/** Compares the first columns that order a row with these values: -1, 0 or 1. */
function compare(row: Row, by: readonly string[], values: Key): number {
  for (const [index, value] of values.entries()) {
    const order = compareValues(row[by[index] as string], value);
    if (order !== 0) return order;
  }
  return 0;
}

function compareValues(a: Value | undefined, b: Value): number {
  if (a === b) return 0;
  return typeof a === "number" ? Math.sign(a - Number(b)) : compareText(String(a), String(b));
}

// By UTF-8 bytes. JavaScript compares UTF-16 units, which differs only for surrogates.
function compareText(a: string, b: string): number {
  if (surrogate.test(a) || surrogate.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : 1;
}

const surrogate = /[\ud800-\udfff]/;

// Tries the end first, where most rows are added.
function placeOf(rows: readonly Row[], row: Row, by: readonly string[]): number {
  const last = rows.at(-1);
  if (last === row) return rows.length - 1;
  const values = valuesOf(row, by);
  if (last === undefined || compare(last, by, values) < 0) return rows.length;
  return countLeading(rows, (other) => compare(other, by, values) < 0);
}

/** Counts the rows before the first one for which `isLeading` is false, by binary search. */
function countLeading(rows: readonly Row[], isLeading: (row: Row) => boolean): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isLeading(rows[middle] as Row)) low = middle + 1;
    else high = middle;
  }
  return low;
}
