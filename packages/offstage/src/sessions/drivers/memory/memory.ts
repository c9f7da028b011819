// The memory driver: the rows of each order and scope in a sorted array. The reference implementation of a driver; it has no
// `select`, so the store computes answers over all scopes itself.
import { OffstageError } from "../../../errors.ts";
import type { Commit, Committed, Key, Row, RowPlace, RowRange, StoreDriver, Value } from "../../ports/store-driver.ts";
import { type Order, type Table, type TableName, tables } from "../../ports/tables.ts";

/** An order of a table. */
interface Index {
  readonly name: string;
  readonly scope: readonly string[];
  /** The columns that order the rows, and then the key, which decides between rows that are equal in them. */
  readonly by: readonly string[];
}

interface Shape {
  readonly key: Index;
  readonly keyColumns: readonly string[];
  readonly all: readonly Index[];
  /** A row in which every column is null. */
  readonly empty: Row;
}

/** Creates a driver that keeps rows in memory. */
export function memoryDriver(): StoreDriver {
  // Frozen rows by table and key, and as sorted arrays by order and scope. A row is the same object everywhere.
  const byKey = new Map<string, Row>();
  const lists = new Map<string, Row[]>();
  let version = 0;
  let number = 0;

  const read = ({ table, order, prefix, from, before, limit, reverse }: RowRange): Row[] => {
    const index = indexOf(table, order);
    const rows = lists.get(nameOf(index.name, prefix.slice(0, index.scope.length))) ?? [];
    const rest = prefix.slice(index.scope.length);
    const low = from === undefined ? rest : [...rest, from];
    const high = before === undefined ? rest : [...rest, before];
    const start = countLeading(rows, (row) => compareTo(row, index.by, low) < 0);
    const end = countLeading(rows, (row) => compareTo(row, index.by, high) < (before === undefined ? 1 : 0));
    const count = Math.min(limit ?? rows.length, Math.max(0, end - start));
    return reverse ? rows.slice(end - count, end).reverse() : rows.slice(start, start + count);
  };

  const get = ({ table, key }: RowPlace): Row | undefined => byKey.get(nameOf(table, key));

  const insert = (index: Index, row: Row): void => {
    const name = listOf(index, row);
    if (name === undefined) return;
    const rows = lists.get(name);
    if (rows === undefined) lists.set(name, [row]);
    else {
      const at = placeOf(rows, row, index.by);
      // An insertion by splice() copies the array, even at its end.
      if (at === rows.length) rows.push(row);
      else rows.splice(at, 0, row);
    }
  };

  const remove = (index: Index, row: Row): void => {
    const name = listOf(index, row);
    const rows = name === undefined ? undefined : lists.get(name);
    if (name === undefined || rows === undefined) return;
    rows.splice(placeOf(rows, row, index.by), 1);
    if (rows.length === 0) lists.delete(name);
  };

  const put = (table: TableName, values: Row): void => {
    const { keyColumns, all, empty } = shapes[table];
    const row = Object.freeze({ ...empty, ...values });
    const name = nameOf(table, valuesOf(row, keyColumns));
    const old = byKey.get(name);
    byKey.set(name, row);
    for (const index of all) {
      if (old !== undefined) remove(index, old);
      insert(index, row);
    }
  };

  const drop = (table: TableName, row: Row): void => {
    const { keyColumns, all } = shapes[table];
    byKey.delete(nameOf(table, valuesOf(row, keyColumns)));
    for (const index of all) remove(index, row);
  };

  const commit = ({ checks, writes }: Commit): Committed => {
    const current = checks.map(get);
    if (checks.some(({ where }, index) => !isMet(where, current[index]))) return { refused: current };
    for (const write of writes) {
      if (!("remove" in write)) continue;
      // From the end, where a removal moves no other rows.
      for (const row of read({ table: write.table, prefix: write.remove, reverse: true })) drop(write.table, row);
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

const shapes = Object.fromEntries(
  Object.entries<Table>(tables).map(([table, shape]) => [table, shapeOf(table, shape)]),
) as Record<TableName, Shape>;

function shapeOf(table: string, { columns, key, orders }: Table): Shape {
  const index = (name: string, { scope, by }: Order): Index => ({
    name: `${table}.${name}`,
    scope,
    by: [...new Set([...by, ...key.scope, ...key.by])],
  });
  const ofKey = { name: table, ...key };
  const others = Object.entries(orders).map(([name, order]) => index(name, order));
  const empty = Object.fromEntries(Object.keys(columns).map((column) => [column, null]));
  return { key: ofKey, keyColumns: [...key.scope, ...key.by], all: [ofKey, ...others], empty };
}

function indexOf(table: TableName, order: string | undefined): Index {
  const { key, all } = shapes[table];
  const found = order === undefined ? key : all.find(({ name }) => name === `${table}.${order}`);
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
  for (const column of by) if (row[column] === null) return undefined;
  for (const column of scope) if (row[column] === null) return undefined;
  return nameOf(name, valuesOf(row, scope));
}

function valuesOf(row: Row, columns: readonly string[]): Key {
  return columns.map((column) => row[column] as string | number);
}

/** Compares the first columns that order a row with these values. */
function compareTo(row: Row, by: readonly string[], values: Key): number {
  for (let index = 0; index < values.length; index++) {
    const order = compareValues(row[by[index] as string], values[index]);
    if (order !== 0) return order;
  }
  return 0;
}

function compareRows(a: Row, b: Row, by: readonly string[]): number {
  for (const column of by) {
    const order = compareValues(a[column], b[column]);
    if (order !== 0) return order;
  }
  return 0;
}

function compareValues(a: Value | undefined, b: Value | undefined): number {
  if (a === b) return 0;
  return typeof a === "number" ? a - Number(b) : compareText(String(a), String(b));
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
  if (last === undefined || compareRows(last, row, by) < 0) return rows.length;
  return countLeading(rows, (other) => compareRows(other, row, by) < 0);
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
