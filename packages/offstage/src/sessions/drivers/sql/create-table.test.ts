import { expect, test } from "vitest";
import { tables } from "../../ports/tables.ts";
import { addColumn, createIndexes, createTable, tableNames } from "./create-table.ts";
import { postgresDialect, sqliteDialect } from "./dialect.ts";

const postgres = postgresDialect("offstage");

test("a table in SQLite reads like a textbook, and says what its rows are", () => {
  expect(createTable(sqliteDialect, "annotations")).toMatchInlineSnapshot(`
    "CREATE TABLE IF NOT EXISTS annotations (
      -- Feedback on a run, or on one of its messages.
      namespace TEXT NOT NULL,
      session_id TEXT NOT NULL,
      seq INTEGER NOT NULL,
      run_id TEXT NOT NULL,
      message_id TEXT,
      label TEXT NOT NULL,
      value TEXT,
      note TEXT,
      by TEXT, -- who gave it
      created_at TEXT NOT NULL,
      exact TEXT, -- JSON: exact values of texts that a column cannot hold
      PRIMARY KEY (namespace, session_id, seq)
    )"
  `);
});

test("a table in Postgres has the types of Postgres, and orders text by bytes in keys", () => {
  expect(createTable(postgres, "annotations")).toMatchInlineSnapshot(`
    "CREATE TABLE IF NOT EXISTS "offstage".annotations (
      -- Feedback on a run, or on one of its messages.
      namespace text COLLATE "C" NOT NULL,
      session_id text COLLATE "C" NOT NULL,
      seq bigint NOT NULL,
      run_id text COLLATE "C" NOT NULL,
      message_id text,
      label text NOT NULL,
      value json,
      note text,
      by text, -- who gave it
      created_at timestamptz NOT NULL,
      exact json, -- JSON: exact values of texts that a column cannot hold
      PRIMARY KEY (namespace, session_id, seq)
    )"
  `);
});

test("every order has an index, without the rows that are not part of it", () => {
  expect(createIndexes(sqliteDialect, "messages")).toMatchInlineSnapshot(`
    [
      "CREATE INDEX IF NOT EXISTS messages_by_said ON messages (namespace, session_id, position) WHERE position IS NOT NULL",
      "CREATE INDEX IF NOT EXISTS messages_by_run ON messages (namespace, session_id, run_id, seq) WHERE run_id IS NOT NULL",
    ]
  `);
  const orders = tableNames.map((name) => Object.keys(tables[name].orders).length);
  expect(tableNames.map((name) => createIndexes(postgres, name).length)).toEqual(orders);
});

test("a column that is added later may be null", () => {
  expect(addColumn(sqliteDialect, "messages", "role")).toBe("ALTER TABLE messages ADD COLUMN role TEXT");
  expect(addColumn(postgres, "messages", "role")).toBe(
    'ALTER TABLE "offstage".messages ADD COLUMN IF NOT EXISTS role text',
  );
});
