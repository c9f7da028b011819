// A commit is one round trip: a call of the function `commit` in the database, which checks and writes. The function `row_of` reads a
// row.
import type { Commit, Key, Put, Row } from "../../ports/store-driver.ts";
import type { TableName } from "../../ports/tables.ts";
import { columnsOf, tableNames, tableOf } from "../sql/create-table.ts";
import type { Dialect } from "../sql/dialect.ts";
import { getRow, type KeyValue, keyPrefix, putRows, removeRows } from "../sql/row-statements.ts";

/**
 * Creates the function `commit(locks, checks, numbered, removals, puts)`, which returns `{"refused":[…]}` or `{"number":…}` as text.
 * It takes its locks first. Each of its statements then sees what the transactions it waited for have committed, if the isolation
 * level is READ COMMITTED. Names of variables begin with "_", so that they differ from those of columns.
 */
export function createCommit(dialect: Dialect): string {
  return `CREATE OR REPLACE FUNCTION ${dialect.table("commit")}(_locks json, _checks json, _numbered boolean, _removals json, _puts json)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  _item json;
  _key json;
  _name text;
  _row json;
  _rows json[] := '{}';
  _is_met boolean := true;
  _number bigint;
BEGIN
  FOR _item IN SELECT value FROM json_array_elements(_locks) LOOP
    IF (_item ->> 1)::boolean THEN
      PERFORM pg_advisory_xact_lock(hashtextextended(_item ->> 0, 0));
    ELSE
      PERFORM pg_advisory_xact_lock_shared(hashtextextended(_item ->> 0, 0));
    END IF;
  END LOOP;

  FOR _item IN SELECT value FROM json_array_elements(_checks) LOOP
    _row := ${dialect.table("row_of")}(_item ->> 'table', _item -> 'key');
    _rows := _rows || ARRAY[_row];
    _is_met := _is_met AND CASE
      WHEN _item -> 'where' IS NULL THEN _row IS NULL
      ELSE coalesce(_row::jsonb @> (_item -> 'where')::jsonb, false)
    END;
  END LOOP;
  IF NOT _is_met THEN
    RETURN json_build_object('refused', _rows)::text;
  END IF;

  IF _numbered THEN
    _number := nextval('${dialect.table("numbers")}');
  END IF;

  FOR _name, _key IN SELECT value ->> 0, value -> 1 FROM json_array_elements(_removals) LOOP
    CASE _name || ' ' || json_array_length(_key)
${removals(dialect)}
    END CASE;
  END LOOP;

  FOR _name, _item IN SELECT key, value FROM json_each(_puts) LOOP
    CASE _name
${tableNames.map((name) => `      WHEN '${name}' THEN\n        ${putRows(dialect, name, jsonRows(dialect, name))};`).join("\n")}
    END CASE;
  END LOOP;
  RETURN json_build_object('number', _number)::text;
END $$`;
}

/** Creates the function `row_of(table, key)`, which returns a row as JSON. It is stable: it sees what its caller sees. */
export function createRowOf(dialect: Dialect): string {
  const branches = tableNames.map(
    (name) => `      WHEN '${name}' THEN
        SELECT row_to_json(answer) INTO _row FROM (${getRow(dialect, name, keyValue(dialect))}) AS answer;`,
  );
  return `CREATE OR REPLACE FUNCTION ${dialect.table("row_of")}(_name text, _key json)
RETURNS json LANGUAGE plpgsql STABLE AS $$
DECLARE
  _row json;
BEGIN
    CASE _name
${branches.join("\n")}
    END CASE;
  RETURN _row;
END $$`;
}

function removals(dialect: Dialect): string {
  const branches = tableNames.flatMap((name) => {
    const { key } = tableOf(name);
    const counts = columnsOf(key).map((_, index) => index + 1);
    return counts
      .filter((count) => count >= key.scope.length)
      .map(
        (count) =>
          `      WHEN '${name} ${count}' THEN\n        ${removeRows(dialect, name, count, keyValue(dialect))};`,
      );
  });
  return branches.join("\n");
}

// The value of a key column in the JSON list "_key".
function keyValue(dialect: Dialect): KeyValue {
  return (index, type) => `(_key ->> ${index})::${dialect.types[type]}`;
}

// Reads the rows of the JSON list "_item". JSON columns arrive as text, so that they are stored as they were written.
function jsonRows(dialect: Dialect, name: TableName): string {
  const columns = Object.entries(tableOf(name).columns);
  const given = columns.map(([column, { type }]) => `${column} ${type === "json" ? "text" : dialect.types[type]}`);
  const values = columns.map(([column, { type }]) => {
    if (type === "json") return `given.${column}::json`;
    if (type === "integer") return `CASE WHEN given.numbered = '${column}' THEN _number ELSE given.${column} END`;
    return `given.${column}`;
  });
  return `SELECT ${values.join(", ")} FROM json_to_recordset(_item) AS given (${given.join(", ")}, numbered text)`;
}

/** The script of a commit, which calls the function. */
export function commitScript(dialect: Dialect, schema: string, { checks, writes }: Commit): string {
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
