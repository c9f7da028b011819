// The SQLite driver: the tables of the record in one file, through node:sqlite. Before a write it checks that the file is still the one
// that was opened: SQLite would go on writing to a deleted one.

import { resolve } from "node:path";
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { OffstageError } from "../../../errors.ts";
import type {
  Check,
  Commit,
  Committed,
  Key,
  Put,
  Row,
  RowPlace,
  RowRange,
  Selection,
  StoreDriver,
  Value,
  Write,
  WriteLabel,
} from "../../ports/store-driver.ts";
import type { TableName } from "../../ports/tables.ts";
import { tableOf } from "../sql/create-table.ts";
import { sqliteDialect } from "../sql/dialect.ts";
import { getRow, hasRow, putRows, rangeReader, removeRows } from "../sql/row-statements.ts";
import { booleansOf, selectRows } from "../sql/select-rows.ts";
import { backupFile, checkPages, openFile, type SqliteOptions } from "./file.ts";
import { prepareFile, schemaOf } from "./prepare-file.ts";
import { nameOf, typedError } from "./typed-error.ts";

export type { SqliteOptions } from "./file.ts";

/** A driver with two operations that only a file has. */
export interface SqliteDriver extends StoreDriver {
  select(selection: Selection): ReturnType<NonNullable<StoreDriver["select"]>>;
  /** Writes a consistent copy to a new file. Other processes can go on writing meanwhile. */
  backup(path: string): Promise<void>;
  /** Checks the whole file; rejects with `store-corrupt` if it is damaged. */
  check(): Promise<void>;
}

/** Creates a driver on a SQLite file. */
export function sqliteDriver(options: SqliteOptions = {}): SqliteDriver {
  const { path = "offstage.db", readOnly = false } = options;
  let opened: OpenFile | undefined;
  const guard = async <T>(work: () => T | Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw typedError(error, path);
    }
  };
  const file = (): OpenFile => {
    if (opened === undefined) throw new OffstageError("store-closed", `${nameOf(path)} is not open.`);
    return opened;
  };
  const fileToWrite = (label: WriteLabel | "prepare"): OpenFile => {
    if (readOnly) throw new OffstageError("store-read-only", `${nameOf(path)} is open for reading only.`);
    file().beforeWrite(label);
    return file();
  };
  return {
    name: nameOf(path),
    open: () =>
      guard(() => {
        // Several stores may share a driver, so a second `open` must keep the connection.
        if (opened !== undefined) return schemaOf(opened.database);
        const { database, version } = openFile({ ...options, path });
        opened = openedFile(database, path);
        return version;
      }),
    prepare: (version) => guard(() => prepareFile(fileToWrite("prepare").database, version)),
    get: (places) => guard(() => file().rows.get(places)),
    read: (range) => guard(() => file().rows.read(range)),
    select: (selection) => guard(() => file().rows.select(selection)),
    commit: (commit) => guard(() => fileToWrite(commit.label).rows.commit(commit)),
    backup: (target) => guard(() => backupFile(file().database, target)),
    check: () => guard(() => checkPages(file().database, path)),
    close: () =>
      guard(() => {
        const last = opened;
        opened = undefined;
        last?.database.close();
      }),
  };
}

interface OpenFile {
  readonly database: DatabaseSync;
  readonly rows: Rows;
  /** Throws `store-gone` if the file is no longer there. */
  beforeWrite(label: WriteLabel | "prepare"): void;
}

function openedFile(database: DatabaseSync, path: string): OpenFile {
  const checkSame = sameFiles(path);
  let isInWalMode = false;
  return {
    database,
    rows: rowsOf(database),
    beforeWrite: (label) => {
      // Changes a file that another tool has taken out of WAL mode. Reading never does.
      if (!isInWalMode) database.exec("PRAGMA journal_mode = WAL");
      isInWalMode = true;
      checkSame(label);
    },
  };
}

interface Rows {
  get(places: readonly RowPlace[]): (Row | undefined)[];
  read(range: RowRange): Row[];
  select(selection: Selection): Row[];
  commit(commit: Commit): Committed;
}

const nextNumber =
  "INSERT INTO counter (id, value) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET value = value + 1 RETURNING value";

/** Reads and writes rows through one connection, with statements that are prepared once. */
function rowsOf(database: DatabaseSync): Rows {
  const readRange = rangeReader(sqliteDialect);
  const prepared = new Map<string, StatementSync>();
  const prepare = (text: string): StatementSync => {
    let statement = prepared.get(text);
    if (statement === undefined) {
      statement = database.prepare(text);
      prepared.set(text, statement);
    }
    return statement;
  };
  const tables = new Map<TableName, TableStatements>();
  const at = (name: TableName): TableStatements => {
    let statements = tables.get(name);
    if (statements === undefined) {
      statements = tableStatements(database, name);
      tables.set(name, statements);
    }
    return statements;
  };

  const getOne = ({ table, key }: RowPlace): Row | undefined => at(table).get(key);
  const isMet = ({ table, key, where }: Check): boolean => {
    return where === undefined ? getOne({ table, key }) === undefined : at(table).has(key, where);
  };
  const issueNumber = (writes: readonly Write[]): number | undefined => {
    if (!writes.some((write) => "row" in write && write.numbered !== undefined)) return undefined;
    return Number(prepare(nextNumber).get()?.value);
  };

  return {
    get: (places) => {
      if (places.length < 2) return places.map(getOne);
      prepare("BEGIN").run();
      try {
        return places.map(getOne);
      } finally {
        prepare("COMMIT").run();
      }
    },
    read: (range) => {
      const { text, values } = readRange(range);
      return rowsFrom(prepare(text).all(...(values as SQLInputValue[])), at(range.table).booleans);
    },
    select: (selection) => {
      const { text, values } = selectRows(sqliteDialect, selection);
      const found = database.prepare(text).all(...values.map((value) => toSql(value as Value)));
      return rowsFrom(found, booleansOf(selection));
    },
    commit: ({ checks, writes }) => {
      prepare("BEGIN IMMEDIATE").run();
      try {
        if (!checks.every(isMet)) {
          const refused = checks.map(getOne);
          prepare("ROLLBACK").run();
          return { refused };
        }
        const number = issueNumber(writes);
        for (const write of writes) if ("remove" in write) at(write.table).remove(write.remove);
        for (const write of writes) if ("row" in write) at(write.table).put(write, number);
        prepare("COMMIT").run();
        return { number };
      } catch (error) {
        if (database.isTransaction) prepare("ROLLBACK").run();
        throw error;
      }
    },
  };
}

interface TableStatements {
  readonly booleans: readonly string[];
  get(key: Key): Row | undefined;
  /** True if the row with this key has these values. */
  has(key: Key, where: Row): boolean;
  put(put: Put, number: number | undefined): void;
  remove(prefix: Key): void;
}

function tableStatements(database: DatabaseSync, name: TableName): TableStatements {
  const columns = Object.keys(tableOf(name).columns);
  const booleans = columns.filter((column) => tableOf(name).columns[column]?.type === "boolean");
  const get = database.prepare(getRow(sqliteDialect, name, () => "?"));
  const put = database.prepare(putRows(sqliteDialect, name, `VALUES (${columns.map(() => "?").join(", ")})`));
  const removes: StatementSync[] = [];
  const checks = new Map<string, StatementSync>();
  return {
    booleans,
    get: (key) => {
      const found = get.get(...key);
      return found && rowFrom(found, booleans);
    },
    has: (key, where) => {
      const given = Object.keys(where);
      const text = given.join();
      const check =
        checks.get(text) ?? database.prepare(hasRow(sqliteDialect, name, { keyValue: () => "?", where: given }));
      checks.set(text, check);
      return check.get(...key, ...Object.values(where).map(toSql)) !== undefined;
    },
    put: ({ row, numbered }, number) => {
      const values: SQLInputValue[] = [];
      for (const column of columns) {
        const value = column === numbered ? number : row[column];
        values.push(typeof value === "boolean" ? Number(value) : (value ?? null));
      }
      put.run(...values);
    },
    remove: (prefix) => {
      removes[prefix.length] ??= database.prepare(removeRows(sqliteDialect, name, prefix.length, () => "?"));
      removes[prefix.length]?.run(...prefix);
    },
  };
}

function toSql(value: Value | undefined): SQLInputValue {
  return typeof value === "boolean" ? Number(value) : (value ?? null);
}

function rowsFrom(found: readonly object[], booleans: readonly string[]): Row[] {
  return found.map((row) => rowFrom(row, booleans));
}

// A damaged value is returned as it is.
function rowFrom(found: object, booleans: readonly string[]): Row {
  const row = { ...found } as Record<string, Value>;
  for (const column of booleans) if (row[column] === 0 || row[column] === 1) row[column] = row[column] === 1;
  return row;
}

const { statSync } = process.getBuiltinModule("node:fs");

// How long a check stays valid. Checking before every write would cost as much as the write.
const betweenRunsMs = 20;
const withinRunMs = 1_000;

// The database, its write-ahead log, and the index of the log. The last two exist from the first transaction to the last close.
const suffixes = ["", "-wal", "-shm"];

/**
 * Returns a function to call before every write, which throws `store-gone` if a file was deleted or replaced. It checks the first
 * time, then at most every 20 ms when a run begins or ends or a session changes, and at most once a second for other writes.
 */
export function sameFiles(path: string): (label: WriteLabel | "prepare") => void {
  if (path === ":memory:") return () => {};
  // Absolute, because the working directory may change.
  const place = resolve(path);
  const known = new Map(suffixes.map((suffix) => [suffix, identityOf(place + suffix)]));
  let checkedAt = Number.NEGATIVE_INFINITY;
  return (label) => {
    const now = performance.now();
    if (now - checkedAt < validMs(label)) return;
    for (const suffix of suffixes) {
      const [before, found] = [known.get(suffix), identityOf(place + suffix)];
      // The log of a file that was not in WAL mode appears later.
      if (before === undefined) known.set(suffix, found);
      else if (found !== before) throw gone(path + suffix);
    }
    checkedAt = now;
  };
}

function identityOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.dev}/${found.ino}`;
}

function validMs(label: WriteLabel | "prepare"): number {
  return label === "run.begin" || label === "run.end" || label.startsWith("session.") ? betweenRunsMs : withinRunMs;
}

function gone(path: string): OffstageError {
  const message = `${nameOf(path)} was deleted or replaced while it was open. Nothing was written. Save its content with store.backup(), then close the store and open it again.`;
  return new OffstageError("store-gone", message);
}
