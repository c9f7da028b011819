// Creates the tables, columns and indexes that a file does not have yet, and records its schema version.
import type { DatabaseSync } from "node:sqlite";
import type { TableName } from "../../ports/tables.ts";
import { addColumn, createIndexes, createTable, tableNames, tableOf } from "../sql/create-table.ts";
import { sqliteDialect } from "../sql/dialect.ts";

// "OSTG" in ASCII; identifies our files.
export const applicationId = 0x4f535447;

const createCounter = `CREATE TABLE IF NOT EXISTS counter (
  -- The last number that the store issued, for the order of sessions and of runs. There is one row.
  id INTEGER PRIMARY KEY,
  value INTEGER NOT NULL
)`;

// Tables with small rows, which are kept in the order of their key. The rows of others have a number, and their key is an index.
const ordered: ReadonlySet<TableName> = new Set([
  "sessions",
  "steps",
  "tool_calls",
  "inbox",
  "annotations",
  "namespaces",
]);

/** Prepares a file for a schema version. Several processes may do so at the same time; the highest version stays. */
export function prepareFile(database: DatabaseSync, version: number): void {
  inTransaction(database, () => {
    // A store in memory is not marked yet, and its backup is a file.
    markFile(database);
    database.exec(createCounter);
    for (const name of tableNames) {
      database.exec(`${createTable(sqliteDialect, name)}${ordered.has(name) ? " WITHOUT ROWID" : ""}`);
      const found = new Set(
        database
          .prepare(`PRAGMA table_info(${name})`)
          .all()
          .map((column) => column.name),
      );
      const missing = Object.keys(tableOf(name).columns).filter((column) => !found.has(column));
      for (const column of missing) database.exec(addColumn(sqliteDialect, name, column));
      for (const index of createIndexes(sqliteDialect, name)) database.exec(index);
    }
    database.exec(`PRAGMA user_version = ${Math.max(version, schemaOf(database))}`);
  });
}

/** Marks a file as ours. */
export function markFile(database: DatabaseSync): void {
  database.exec(`PRAGMA application_id = ${applicationId}`);
}

/** The schema version of an open database; 0 for a new one. */
export function schemaOf(database: DatabaseSync): number {
  return Number(database.prepare("PRAGMA user_version").get()?.user_version);
}

// IMMEDIATE waits for other writers; a plain BEGIN fails at once when it turns into a write.
function inTransaction(database: DatabaseSync, work: () => void): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    work();
    database.exec("COMMIT");
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}
