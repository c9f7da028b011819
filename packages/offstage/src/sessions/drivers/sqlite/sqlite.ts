// The SQLite driver: the tables of the record in one file, through node:sqlite.
import type { DatabaseSync } from "node:sqlite";
import { OffstageError } from "../../../errors.ts";
import type { Selection, StoreDriver, WriteLabel } from "../../ports/store-driver.ts";
import { backupFile, checkPages, openFile, type SqliteOptions } from "./file.ts";
import { prepareFile, schemaOf } from "./prepare-file.ts";
import { type Rows, rowsOf } from "./rows.ts";
import { sameFiles } from "./same-files.ts";
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
