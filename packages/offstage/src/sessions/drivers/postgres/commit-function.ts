// The functions in the database that make a commit one round trip: `row_of` reads a row, and `commit` checks and writes.
import type { TableName } from "../../ports/tables.ts";
import { columnsOf, tableNames, tableOf } from "../sql/create-table.ts";
import type { Dialect } from "../sql/dialect.ts";
import { getRow, type KeyValue, putRows, removeRows } from "../sql/row-statements.ts";

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
