// The script that creates the tables, columns, indexes and functions that a database does not have yet.
import type { TableName } from "../../ports/tables.ts";
import { addColumn, createIndexes, createTable, tableNames, tableOf } from "../sql/create-table.ts";
import { type Dialect, postgresDialect } from "../sql/dialect.ts";
import { createCommit, createRowOf, literal, scriptOf } from "./commit.ts";

/**
 * The script for a schema version. It runs under a lock, so that several processes can prepare a database at
 * the same time; the highest version stays.
 */
export function prepareSchema(schema: string, version: number): string {
  const dialect = postgresDialect(schema);
  const versionTable = dialect.table("version");
  return scriptOf([
    // No notice for each thing that exists.
    "SET LOCAL client_min_messages = warning",
    `SELECT pg_advisory_xact_lock(hashtextextended(${literal(`offstage prepare ${schema}`)}, 0))`,
    // CREATE SCHEMA IF NOT EXISTS needs permission to create one even if it exists. to_regnamespace() may not yet know one that
    // was created while this transaction waited for the lock.
    `DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = ${literal(schema)}) THEN CREATE SCHEMA "${schema}"; END IF; END $$`,
    `CREATE TABLE IF NOT EXISTS ${versionTable} (version integer NOT NULL)`,
    `COMMENT ON TABLE ${versionTable} IS 'The version of the schema. There is one row.'`,
    `CREATE SEQUENCE IF NOT EXISTS ${dialect.table("numbers")}`,
    ...tableNames.flatMap((name) => [
      createTable(dialect, name),
      ...Object.keys(tableOf(name).columns).map((column) => addColumn(dialect, name, column)),
      ...createIndexes(dialect, name),
      ...comments(dialect, name),
    ]),
    createRowOf(dialect),
    createCommit(dialect),
    `INSERT INTO ${versionTable} SELECT ${version} WHERE NOT EXISTS (SELECT FROM ${versionTable})`,
    `UPDATE ${versionTable} SET version = greatest(version, ${version})`,
  ]);
}

function comments(dialect: Dialect, name: TableName): readonly string[] {
  const { note, columns } = tableOf(name);
  const table = dialect.table(name);
  const noted = Object.entries(columns).filter(([, column]) => column.note !== undefined);
  return [
    `COMMENT ON TABLE ${table} IS ${literal(note)}`,
    ...noted.map(([column, { note = "" }]) => `COMMENT ON COLUMN ${table}.${column} IS ${literal(note)}`),
  ];
}
