// Reads and writes rows behind the back of a store: through its driver, or in its SQLite file.
import { DatabaseSync } from "node:sqlite";
import type { Row, StoreDriver } from "../../src/sessions/ports/store-driver.ts";
import { type TableName, tables } from "../../src/sessions/ports/tables.ts";

/** A row, and the table it is in. */
export interface PlacedRow {
  readonly table: TableName;
  readonly row: Row;
}

export const tableNames = Object.keys(tables) as TableName[];

/** Returns all rows of a namespace, as the driver has them. */
export async function rowsIn(driver: StoreDriver, namespace = ""): Promise<PlacedRow[]> {
  const sessions = await driver.read({ table: "sessions", order: "activity", prefix: [namespace] });
  // Spans of no run have an empty session id.
  const ids = ["", ...sessions.map(({ session_id }) => String(session_id))];
  const found = await Promise.all(
    tableNames.map(async (table): Promise<PlacedRow[]> => {
      const rows = await readAll(driver, table, { namespace, ids });
      return rows.map((row) => ({ table, row }));
    }),
  );
  return found.flat();
}

async function readAll(
  driver: StoreDriver,
  table: TableName,
  { namespace, ids }: { readonly namespace: string; readonly ids: readonly string[] },
): Promise<Row[]> {
  const { key, orders } = tables[table];
  if (key.scope.length === 1) return driver.read({ table, prefix: [namespace] });
  const order = { sessions: "activity", memories: "all" }[table as string];
  if (order !== undefined && order in orders) return driver.read({ table, order, prefix: [namespace] });
  return (await Promise.all(ids.map((id) => driver.read({ table, prefix: [namespace, id] })))).flat();
}

/** Puts rows without any check. */
export async function putRows(driver: StoreDriver, ...writes: readonly PlacedRow[]): Promise<void> {
  await driver.commit({ label: "session.add", checks: [], writes });
}

/** The names of the columns of a table that an encrypted store encrypts. */
export function sealedColumns(table: TableName): string[] {
  return Object.entries(tables[table].columns).flatMap(([name, { isSealed }]) => (isSealed ? [name] : []));
}

/** Runs statements on a SQLite file, and returns the number of rows that the last one changed. */
export function damage(path: string, ...statements: readonly string[]): number {
  const database = new DatabaseSync(path);
  try {
    return statements.reduce((_, sql) => Number(database.prepare(sql).run().changes), 0);
  } finally {
    database.close();
  }
}

/** Returns every value of every column of every table of a SQLite file, as text. */
export function valuesIn(path: string): string[] {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return ["counter", ...tableNames].flatMap((table) =>
      database
        .prepare(`SELECT * FROM ${table}`)
        .all()
        .flatMap((row) => Object.values(row).map(String)),
    );
  } finally {
    database.close();
  }
}
