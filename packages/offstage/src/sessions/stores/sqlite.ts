// The SQLite driver: rows in one table of one file, through node:sqlite.

import { resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import { OffstageError } from "../../errors.ts";
import type {
  Check,
  Commit,
  Refused,
  Row,
  RowPlace,
  RowRange,
  StoreDriver,
  Write,
  WriteLabel,
} from "../store-driver.ts";
import { backupFile, checkPages, openFile, prepareFile, type SqliteOptions, schemaOf } from "./sqlite/file.ts";
import { nameOf, typedError } from "./sqlite/typed-error.ts";

export type { SqliteOptions } from "./sqlite/file.ts";

/** A driver with two operations that only a file has. */
export interface SqliteDriver extends StoreDriver {
  /** Writes a consistent copy to a new file. Other processes can go on writing meanwhile. */
  backup(path: string): Promise<void>;
  /** Checks the whole file; rejects with `store-corrupt` if it is damaged. */
  check(): Promise<void>;
}

/** Creates a driver on a SQLite file. */
export function sqliteDriver(options: SqliteOptions = {}): SqliteDriver {
  const { path = "offstage.db" } = options;
  let database: DatabaseSync | undefined;
  let rows: Rows | undefined;
  let checkSame: ReturnType<typeof sameFile> | undefined;
  const guard = async <T>(work: () => T): Promise<T> => {
    try {
      return work();
    } catch (error) {
      throw typedError(error, path);
    }
  };
  const connection = (): DatabaseSync => {
    if (database === undefined) throw new Error("The driver is not open.");
    return database;
  };
  const opened = (): Rows => {
    rows ??= rowsOf(connection());
    return rows;
  };
  return {
    name: nameOf(path),
    open: () =>
      guard(() => {
        // Several stores may share a driver, so a second `open` must keep the connection.
        if (database !== undefined) return schemaOf(database);
        const found = openFile({ ...options, path });
        database = found.database;
        checkSame = sameFile(path);
        rows = undefined;
        return found.version;
      }),
    prepare: (version) => guard(() => prepareFile(connection(), version)),
    get: (places) => guard(() => places.map((place) => opened().at(place))),
    read: (list, range) => guard(() => opened().read(list, range)),
    commit: (commit) =>
      guard(() => {
        checkSame?.(commit.label);
        return opened().commit(commit);
      }),
    backup: async (target) => {
      await backupFile(connection(), target).catch((error) => {
        throw typedError(error, path);
      });
    },
    check: () => guard(() => database && checkPages(database, path)),
    close: () =>
      guard(() => {
        rows = undefined;
        database?.close();
        database = undefined;
      }),
  };
}

interface Rows {
  at(place: RowPlace): Row | undefined;
  read(list: string, range?: RowRange): Row[];
  commit(commit: Commit): Refused;
}

interface StoredRow {
  readonly key: string;
  readonly value: string;
  readonly sum: number;
}

function rowsOf(database: DatabaseSync): Rows {
  database.exec("PRAGMA journal_mode = WAL");
  const prepare = (sql: string) => database.prepare(sql);
  const range = "SELECT key, value, sum FROM offstage WHERE list = ? AND key >= ? AND key < ? ORDER BY key";
  const begin = prepare("BEGIN IMMEDIATE");
  const end = prepare("COMMIT");
  const undo = prepare("ROLLBACK");
  const one = prepare("SELECT key, value, sum FROM offstage WHERE list = ? AND key = ?");
  const text = prepare("SELECT value FROM offstage WHERE list = ? AND key = ?");
  text.setReturnArrays(true);
  const forward = prepare(`${range} LIMIT ?`);
  const backward = prepare(`${range} DESC LIMIT ?`);
  const put = prepare(
    "INSERT INTO offstage (list, key, value, sum) VALUES (?, ?, ?, ?) ON CONFLICT (list, key) DO UPDATE SET value = excluded.value, sum = excluded.sum",
  );
  const drop = prepare("DELETE FROM offstage WHERE list = ? AND key = ?");
  const dropList = prepare("DELETE FROM offstage WHERE list = ?");

  const at = ({ list, key }: RowPlace): Row | undefined => {
    const row = one.get(list, key) as unknown as StoredRow | undefined;
    return row && checked(list, row);
  };
  const apply = ({ list, key, value }: Write): void => {
    if (key === undefined) dropList.run(list);
    else if (value === undefined) drop.run(list, key);
    else put.run(list, key, value, rowSum(list, key, value));
  };
  const isMet = ({ list, key, value }: Check): boolean => (text.get(list, key) as unknown[] | undefined)?.[0] === value;

  return {
    at,
    read: (list, { from = "", before = "\x7f", limit = -1, reverse = false } = {}) => {
      const found = (reverse ? backward : forward).all(list, from, before, limit) as unknown as StoredRow[];
      return found.map((row) => checked(list, row));
    },
    commit: ({ checks, writes }) => {
      begin.run();
      try {
        if (!checks.every(isMet)) {
          const current = checks.map(at);
          undo.run();
          return current;
        }
        for (const write of writes) apply(write);
        end.run();
        return undefined;
      } catch (error) {
        if (database.isTransaction) undo.run();
        throw error;
      }
    },
  };
}

// Detects flipped bits, which SQLite itself does not.
function rowSum(list: string, key: string, value: string): number {
  return crc32(`${list} ${key} ${value}`);
}

function checked(list: string, { key, value, sum }: StoredRow): Row {
  return sum === rowSum(list, key, value) ? { key, value } : { key, value, damaged: true };
}

const { statSync } = process.getBuiltinModule("node:fs");

// How long a check stays valid. Checking before every write would cost more than the write.
const betweenRunsMs = 20;
const withinRunMs = 1_000;

/**
 * Returns a function to call before every write, which throws `store-gone` if the file was deleted or replaced. It checks at most
 * every 20 ms when a run begins or ends or a session changes, and at most once a second for other writes of a run.
 */
export function sameFile(path: string): (label: WriteLabel) => void {
  if (path === ":memory:") return () => {};
  // Absolute, because the working directory may change.
  const place = resolve(path);
  const opened = statSync(place);
  let lookedAt = performance.now();
  return (label) => {
    const now = performance.now();
    if (now - lookedAt < goodForMs(label)) return;
    const found = statSync(place, { throwIfNoEntry: false });
    if (found?.ino !== opened.ino || found.dev !== opened.dev) throw gone(path);
    lookedAt = now;
  };
}

function goodForMs(label: WriteLabel): number {
  return label === "run.begin" || label === "run.end" || label.startsWith("session.") ? betweenRunsMs : withinRunMs;
}

function gone(path: string): OffstageError {
  const message = `${nameOf(path)} was deleted or replaced while it was open. Nothing was written. Save its content with store.backup(), then close the store and open it again.`;
  return new OffstageError("store-gone", message);
}
