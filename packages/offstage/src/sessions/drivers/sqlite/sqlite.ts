// The SQLite driver: the tables of the record in one file, through node:sqlite. Before a write it checks that the file is still the one
// that was opened: SQLite would go on writing to a deleted one.
import { resolve } from "node:path";
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { OffstageError } from "../../../errors.ts";
import type {
  Check,
  Commit,
  Committed,
  Put,
  Row,
  RowPlace,
  RowRange,
  Selection,
  StoreDriver,
  Value,
  WriteLabel,
} from "../../ports/store-driver.ts";
import { type Table, type TableName, tables } from "../../ports/tables.ts";
import { sqliteDialect } from "../sql/dialect.ts";
import { getRow, hasRow, putRows, readRange, removeRows } from "../sql/row-statements.ts";
import { selectRows } from "../sql/select-rows.ts";
import { backupFile, checkPages, openFile, prepareFile, type SqliteOptions, schemaOf } from "./file.ts";
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
        opened = { database, rows: rowsOf(database), beforeWrite: guardWrites(database, path) };
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
  readonly beforeWrite: (label: WriteLabel | "prepare") => void;
}

interface Rows {
  get(places: readonly RowPlace[]): (Row | undefined)[];
  read(range: RowRange): Row[];
  select(selection: Selection): Row[];
  commit(commit: Commit): Committed;
}

const nextNumber =
  "INSERT INTO counter (id, value) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET value = value + 1 RETURNING value";

/** Reads and writes rows through one connection. */
function rowsOf(database: DatabaseSync): Rows {
  const prepared = new Map<string, StatementSync>();
  /** The statement for a purpose. Its text is made and prepared once. */
  const statement = (purpose: string, text: () => string): StatementSync => {
    const known = prepared.get(purpose);
    if (known !== undefined) return known;
    const made = database.prepare(text());
    prepared.set(purpose, made);
    return made;
  };
  const run = (text: string): void => {
    statement(text, () => text).run();
  };

  const getOne = ({ table, key }: RowPlace): Row | undefined => {
    const found = statement(`get ${table}`, () => getRow(sqliteDialect, table, () => "?")).get(...key);
    return found && rowFrom(table, found);
  };
  const isMet = ({ table, key, where }: Check): boolean => {
    if (where === undefined) return getOne({ table, key }) === undefined;
    const columns = Object.keys(where);
    const has = () => hasRow(sqliteDialect, table, { keyValue: () => "?", where: columns });
    return statement(`has ${table} ${columns}`, has).get(...key, ...Object.values(where).map(toSql)) !== undefined;
  };
  const put = ({ table, row, numbered }: Put, number: number | undefined): void => {
    const columns = Object.keys(tables[table].columns);
    const values = columns.map((column) => toSql(column === numbered ? number : row[column]));
    const text = (inPlace: boolean) => () =>
      putRows(sqliteDialect, table, `VALUES (${columns.map(() => "?").join(", ")})`, { inPlace });
    const { changes } = statement(`put ${table} in place`, text(true)).run(...values);
    if (changes === 0) statement(`put ${table}`, text(false)).run(...values);
  };

  return {
    get: (places) => {
      if (places.length < 2) return places.map(getOne);
      run("BEGIN");
      try {
        return places.map(getOne);
      } finally {
        run("COMMIT");
      }
    },
    read: (range) => {
      const { table, order, prefix, from, before, limit, reverse } = range;
      const bounds = [from, before, limit];
      const shape = [table, order, prefix.length, ...bounds.map((value) => value !== undefined), reverse].join(" ");
      const reading = statement(`read ${shape}`, () => readRange(sqliteDialect, range).text);
      const values = [...prefix, ...bounds.filter((value) => value !== undefined)];
      return reading.all(...values).map((row) => rowFrom(table, row));
    },
    select: (selection) => {
      const { text, values } = selectRows(sqliteDialect, selection);
      const found = database.prepare(text).all(...(values as SQLInputValue[]));
      return found.map((row) => rowFrom(selection.table, row));
    },
    commit: ({ checks, writes }) => {
      run("BEGIN IMMEDIATE");
      try {
        if (!checks.every(isMet)) {
          const refused = checks.map(getOne);
          run("ROLLBACK");
          return { refused };
        }
        const puts = writes.filter((write) => "row" in write);
        const isNumbered = puts.some(({ numbered }) => numbered !== undefined);
        const number = isNumbered ? Number(statement("number", () => nextNumber).get()?.value) : undefined;
        for (const { table, remove } of writes.filter((write) => "remove" in write)) {
          const text = () => removeRows(sqliteDialect, table, remove.length, () => "?");
          statement(`remove ${table} ${remove.length}`, text).run(...remove);
        }
        for (const each of puts) put(each, number);
        run("COMMIT");
        return { number };
      } catch (error) {
        if (database.isTransaction) run("ROLLBACK");
        throw error;
      }
    },
  };
}

function toSql(value: Value | undefined): SQLInputValue {
  return typeof value === "boolean" ? Number(value) : (value ?? null);
}

/** The columns of each table that are booleans. */
const booleans = new Map(
  Object.entries<Table>(tables).map(([name, { columns }]) => [
    name as TableName,
    Object.keys(columns).filter((column) => columns[column]?.type === "boolean"),
  ]),
);

// SQLite has no booleans. A damaged value is returned as it is.
function rowFrom(table: TableName, found: object): Row {
  const row = { ...found } as Record<string, Value>;
  for (const column of booleans.get(table) ?? [])
    if (row[column] === 0 || row[column] === 1) row[column] = row[column] === 1;
  return row;
}

const { statSync } = process.getBuiltinModule("node:fs");

// How long a check stays valid. Checking before every write would cost as much as the write.
const betweenRunsMs = 20;
const withinRunMs = 1_000;

// The database, its write-ahead log, and the index of the log. The last two exist from the first transaction to the last close.
const suffixes = ["", "-wal", "-shm"];

/**
 * Returns a function to call before every write. It throws `store-gone` if a file was deleted or replaced. It checks the first time, then
 * at most every 20 ms when a run begins or ends or a session changes, and at most once a second for other writes.
 */
function guardWrites(database: DatabaseSync, path: string): OpenFile["beforeWrite"] {
  // Absolute, because the working directory may change.
  const place = resolve(path);
  const known = new Map(suffixes.map((suffix) => [suffix, identityOf(place + suffix)]));
  let checkedAt: number | undefined;
  return (label) => {
    const now = performance.now();
    // Changes a file that another tool has taken out of WAL mode. Reading never does.
    if (checkedAt === undefined) database.exec("PRAGMA journal_mode = WAL");
    else if (now - checkedAt < validMs(label)) return;
    for (const suffix of path === ":memory:" ? [] : suffixes) {
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
