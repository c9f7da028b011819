// The SQLite driver: the tables of the record in one file, through node:sqlite. Before a write it checks that the file is still the one
// that was opened: SQLite would go on writing to a deleted one.

import { resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { OffstageError } from "../../../errors.ts";
import type { Selection, StoreDriver, WriteLabel } from "../../ports/store-driver.ts";
import { backupFile, checkPages, openFile, type SqliteOptions } from "./file.ts";
import { prepareFile, schemaOf } from "./prepare-file.ts";
import { type Rows, rowsOf } from "./rows.ts";
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
