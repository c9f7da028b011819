// The file of a SQLite store: made whole or not at all, recognised before anything is written to it.
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { OffstageError } from "../../../errors.ts";

// Not imported: an import also loads the streams and promises of node:fs, which takes longer than opening the file.
const { closeSync, existsSync, linkSync, openSync, readSync, renameSync, rmSync, statSync } =
  process.getBuiltinModule("node:fs");

type Sqlite = typeof import("node:sqlite");

export interface SqliteOptions {
  /** The file, or ":memory:". A missing file is created; a missing folder is an error. Default "offstage.db". */
  readonly path?: string | undefined;
  /** "full" survives a power cut at once, at a higher price; "normal" survives any crash of a process. Default "normal". */
  readonly durability?: "normal" | "full" | undefined;
  /** How long to wait for another process that writes. Default 5000. */
  readonly timeoutMs?: number | undefined;
  /** The size the file may reach; a write beyond it fails with `store-full`. Default: as much as the disk has. */
  readonly maxBytes?: number | undefined;
}

// "OFFS" in ASCII: how SQLite files say whose they are.
const applicationId = 0x4f464653;
const magic = "SQLite format 3\0";
// SQLITE_NOTADB
const notDatabase = 26;
// A file of this size is read whole in a few milliseconds; a page that lost its rows would look like an empty store.
const checkedBytes = 2 * 1024 * 1024;

/** Writes a consistent copy to a file that is not there yet. */
export async function backupFile(database: DatabaseSync, target: string): Promise<void> {
  if (existsSync(target)) {
    throw new OffstageError("invalid-argument", `"${target}" exists already; a backup goes to a new file.`);
  }
  checkFolder(target);
  for (let attempt = 1; ; attempt++) {
    try {
      await loadSqlite().backup(database, target);
      return;
    } catch (error) {
      rmSync(target, { force: true });
      if (!isBusy(error) || attempt === mostBackups) throw error;
    }
  }
}

const mostBackups = 100;

// node:sqlite gives up, saying that it was no error, where its first step meets a write of ours that is under way.
function isBusy(error: unknown): boolean {
  return (error as { errcode?: unknown }).errcode === 0;
}

/** node:sqlite, without the warning that it is experimental. */
function loadSqlite(): Sqlite {
  const { emitWarning } = process;
  process.emitWarning = ((warning: string | Error, ...rest: never[]) => {
    if (!String(warning).includes("SQLite is an experimental feature")) emitWarning.call(process, warning, ...rest);
  }) as typeof process.emitWarning;
  try {
    return process.getBuiltinModule("node:sqlite") ?? noSqlite();
  } finally {
    process.emitWarning = emitWarning;
  }
}

function noSqlite(): never {
  const message = `Node ${process.version} has no node:sqlite. Run Node 22.16 or later, without --no-experimental-sqlite, or use another store.`;
  throw new OffstageError("missing-package", message);
}

type OpenOptions = SqliteOptions & { readonly path: string };

/** Opens a file, made first where it is missing, and gives its schema version; 0 where it has none yet. */
export function openFile(options: OpenOptions): { database: DatabaseSync; version: number } {
  const { path } = options;
  if (path === ":memory:") return { database: connect(options), version: 0 };
  if (!existsSync(path)) createFile(options);
  checkFile(path);
  let database: DatabaseSync | undefined;
  try {
    database = connect(options);
    const version = versionOf(database, path);
    if (statSync(path).size <= checkedBytes) checkPages(database, path);
    return { database, version };
  } catch (error) {
    database?.close();
    throw refusal(error, path);
  }
}

/** Makes the table and records the version. */
export function prepareFile(database: DatabaseSync, version: number): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    database.exec(
      "CREATE TABLE IF NOT EXISTS offstage (list TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, sum INTEGER NOT NULL, PRIMARY KEY (list, key))",
    );
    database.exec(`PRAGMA application_id = ${applicationId}`);
    database.exec(`PRAGMA user_version = ${version}`);
    database.exec("COMMIT");
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

function connect({ path, durability = "normal", timeoutMs = 5_000, maxBytes }: OpenOptions): DatabaseSync {
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(path, { timeout: timeoutMs });
  database.exec(`PRAGMA synchronous = ${durability === "full" ? "FULL" : "NORMAL"}`);
  if (maxBytes !== undefined) database.exec(`PRAGMA max_page_count = ${Math.max(1, Math.trunc(maxBytes / 4096))}`);
  return database;
}

// Others must never see a file that is empty or half made: it is finished under another name and then linked into place.
function createFile({ path, ...options }: OpenOptions): void {
  checkFolder(path);
  const draft = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}.new`;
  try {
    const database = connect({ ...options, path: draft });
    prepareFile(database, 0);
    database.exec("PRAGMA journal_mode = WAL");
    database.close();
    place(draft, path);
  } finally {
    for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(draft + suffix, { force: true });
  }
}

function checkFolder(path: string): void {
  const folder = dirname(path);
  if (existsSync(folder)) return;
  const message = `SQLite file "${path}" cannot be created: the folder "${folder}" does not exist. Create it first, or choose another path.`;
  throw new OffstageError("store-failed", message);
}

// Linking never replaces a file that is there. Where a file system knows no links, a rename comes close enough.
function place(draft: string, path: string): void {
  try {
    linkSync(draft, path);
  } catch (error) {
    if (existsSync(path)) return;
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"].includes(String((error as NodeJS.ErrnoException).code)))
      throw error;
    renameSync(draft, path);
  }
}

// By its size alone: to open and close the file here would give up the locks that other connections of this process have on it.
function checkFile(path: string): void {
  const found = statSync(path);
  if (!found.isFile()) throw foreign(path, "is not a file");
  if (found.size === 0) throw emptyFile(path);
}

// What SQLite cannot read as a database at all is somebody else's, unless it begins as one.
function refusal(error: unknown, path: string): unknown {
  const isUnreadable = (error as { errcode?: unknown }).errcode === notDatabase;
  return isUnreadable && !beginsAsDatabase(path) ? foreign(path, "is not a SQLite database") : error;
}

function beginsAsDatabase(path: string): boolean {
  const bytes = Buffer.alloc(magic.length);
  const file = openSync(path, "r");
  readSync(file, bytes);
  closeSync(file);
  return bytes.toString("latin1") === magic;
}

function versionOf(database: DatabaseSync, path: string): number {
  const id = database.prepare("PRAGMA application_id").get()?.application_id;
  if (id !== applicationId) throw foreign(path, "is a database of another program");
  return schemaOf(database);
}

/** The schema version of an open database; 0 where it has none yet. */
export function schemaOf(database: DatabaseSync): number {
  return Number(database.prepare("PRAGMA user_version").get()?.user_version);
}

/** Throws `store-corrupt` where the pages of the file do not add up. */
export function checkPages(database: DatabaseSync, path: string): void {
  const found = database.prepare("PRAGMA integrity_check(1)").get()?.integrity_check;
  if (found === "ok") return;
  const message = `"${path}" is damaged. Nothing was changed; restore a backup, or rescue it with the sqlite3 tool. (${found})`;
  throw new OffstageError("store-corrupt", message);
}

function foreign(path: string, what: string): OffstageError {
  return new OffstageError("store-foreign", `"${path}" ${what}. Nothing was changed; choose another path.`);
}

function emptyFile(path: string): OffstageError {
  const message = `"${path}" is empty: it was cut off, or is not a store. Remove it to begin a new one; nothing was changed.`;
  return new OffstageError("store-corrupt", message);
}
