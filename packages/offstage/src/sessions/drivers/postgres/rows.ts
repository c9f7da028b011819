// Reads and writes rows of a schema. Every read is one statement, and a commit is one call of a function in the database.
import type { Commit, Committed, Key, Put, Row, RowPlace, RowRange, Selection } from "../../ports/store-driver.ts";
import type { TableName } from "../../ports/tables.ts";
import { tableOf } from "../sql/create-table.ts";
import { type Dialect, postgresDialect } from "../sql/dialect.ts";
import { keyPrefix, readRange, type Statement } from "../sql/row-statements.ts";
import { selectRows } from "../sql/select-rows.ts";

export interface PostgresQuery {
  readonly text: string;
  readonly values?: unknown[];
}

/** Sends a query, and resolves with the rows of its last statement. */
export type Query = (query: PostgresQuery) => Promise<readonly Record<string, unknown>[]>;

export interface Rows {
  get(places: readonly RowPlace[]): Promise<(Row | undefined)[]>;
  read(range: RowRange): Promise<Row[]>;
  select(selection: Selection): Promise<Row[]>;
  commit(commit: Commit): Promise<Committed>;
}

export function rowsOf(query: Query, schema: string): Rows {
  const dialect = postgresDialect(schema);
  // As JSON, a row needs no conversion, and does not depend on the type parsers of the caller's pool.
  const all = async ({ text, values }: Statement): Promise<Row[]> => {
    const found = await query({
      text: `SELECT row_to_json(found)::text AS "row" FROM (${text}) AS found`,
      values: [...values],
    });
    return found.map(({ row }) => JSON.parse(String(row)) as Row);
  };
  return {
    // One statement, so that all places are read from one snapshot.
    get: async (places) => {
      const place = "json_array_elements($1::json) WITH ORDINALITY AS places (place, n)";
      const row = `${dialect.table("row_of")}(place ->> 'table', place -> 'key')::text`;
      const text = `SELECT ${row} AS "row" FROM ${place} ORDER BY n`;
      const found = await query({ text, values: [JSON.stringify(places)] });
      return found.map(({ row }) => (row === null ? undefined : (JSON.parse(String(row)) as Row)));
    },
    read: async (range) => all(readRange(dialect, range)),
    select: async (selection) => all(selectRows(dialect, selection)),
    commit: async (commit) => {
      const [found] = await query({ text: commitScript(dialect, schema, commit) });
      const { refused, number } = JSON.parse(String(found?.committed)) as {
        readonly refused?: readonly (Row | null)[];
        readonly number?: number | null;
      };
      return refused === undefined
        ? { number: number ?? undefined }
        : { refused: refused.map((row) => row ?? undefined) };
    },
  };
}

function commitScript(dialect: Dialect, schema: string, { checks, writes }: Commit): string {
  const removals = writes.filter((write) => "remove" in write);
  const puts = writes.filter((write) => "row" in write);
  for (const { table, remove } of removals) keyPrefix(table, remove.length);
  const locks = locksOf([
    ...checks.map(({ table, key }) => ({ scope: scopeOf(table, key), isWritten: false })),
    ...removals.map(({ table, remove }) => ({ scope: scopeOf(table, remove), isWritten: true })),
    ...puts.map(({ table, row }) => ({ scope: scopeOf(table, keyOf(table, row)), isWritten: true })),
  ]);
  const values = [
    locks.map(([scope, isWritten]) => [JSON.stringify([schema, scope]), isWritten]),
    checks,
    puts.some(({ numbered }) => numbered !== undefined),
    removals.map(({ table, remove }) => [table, remove]),
    putsByTable(puts),
  ];
  const call = values.map((value) => literal(JSON.stringify(value))).join(", ");
  return scriptOf([`SELECT ${dialect.table("commit")}(${call}) AS committed`]);
}

function putsByTable(puts: readonly Put[]): Readonly<Record<string, readonly object[]>> {
  const groups = Map.groupBy(puts, ({ table }) => table);
  return Object.fromEntries(
    [...groups].map(([table, rows]) => [table, rows.map(({ row, numbered }) => ({ ...row, numbered }))]),
  );
}

/**
 * The locks of a commit: each scope once, and whether it is written. Commits that write the same scope wait for each other, and
 * those that only check it wait for them. All take their locks in the same order, which excludes deadlocks.
 */
function locksOf(
  used: readonly { readonly scope: string; readonly isWritten: boolean }[],
): readonly (readonly [scope: string, isWritten: boolean])[] {
  const locks = new Map<string, boolean>();
  for (const { scope, isWritten } of used) locks.set(scope, isWritten || (locks.get(scope) ?? false));
  return [...locks].sort(([a], [b]) => (a < b ? -1 : 1));
}

const scopeOf = (name: TableName, key: Key): string => JSON.stringify(key.slice(0, tableOf(name).key.scope.length));

function keyOf(name: TableName, row: Row): Key {
  return tableOf(name).key.scope.map((column) => row[column] as string);
}

/**
 * Makes a script. Its transaction sees what others have committed while it waits for a lock, whatever the default isolation level
 * of the database is. No prepared statement is involved, so that it works behind PgBouncer.
 */
export function scriptOf(statements: readonly string[]): string {
  return ["SET TRANSACTION ISOLATION LEVEL READ COMMITTED", ...statements].join(";\n");
}

/** A text as part of a script. The form with E is read in the same way by every configuration of the server. */
export function literal(text: string): string {
  const quoted = text.replaceAll("'", "''");
  return quoted.includes("\\") ? ` E'${quoted.replaceAll("\\", "\\\\")}'` : `'${quoted}'`;
}
