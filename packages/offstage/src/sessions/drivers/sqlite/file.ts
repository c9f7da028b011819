// Opens, creates, prepares and copies the file of a SQLite store. Creation is atomic, and a foreign file is refused before anything is written.
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { OffstageError } from "../../../errors.ts";
import type { TableName } from "../../ports/tables.ts";
import { addColumn, createIndexes, createTable, tableNames, tableOf } from "../sql/create-table.ts";
import { sqliteDialect } from "../sql/dialect.ts";

// An import would also load the streams and promises of node:fs, which takes longer than opening the file.
const { closeSync, existsSync, linkSync, openSync, readSync, renameSync, rmSync, statSync } =
  process.getBuiltinModule("node:fs");

type Sqlite = typeof import("node:sqlite");

export interface SqliteOptions {
  /** The file, or ":memory:". A missing file is created; a missing folder is an error. Default "offstage.db". */
  readonly path?: string | undefined;
  /** "normal" survives any crash of the process; "full" also a power failure at any moment, but is slower. Default "normal". */
  readonly durability?: "normal" | "full" | undefined;
  /** How long to wait while another process writes. Default 5000. */
  readonly timeoutMs?: number | undefined;
  /** The maximum size of the file; a write beyond it fails with `store-full`. Default: unlimited. */
  readonly maxBytes?: number | undefined;
  /** Open an existing file for reading, while others may write it. Writes fail with `store-read-only`. Default false. */
  readonly readOnly?: boolean | undefined;
}

// "OSTG" in ASCII; identifies our files.
const applicationId = 0x4f535447;
// Development versions before 0.1.0 wrote this id.
const oldApplicationId = 0x4f464653;
const magic = "SQLite format 3\0";
// SQLITE_NOTADB
const notDatabase = 26;
// Files up to this size are checked on opening, which takes a few milliseconds. A damaged page can look like an empty store.
const checkedBytes = 2 * 1024 * 1024;

type OpenOptions = SqliteOptions & { readonly path: string };

/** Opens a file, and creates it if it is missing. The version is 0 for a new file. */
export function openFile(options: OpenOptions): { database: DatabaseSync; version: number } {
  const { path, readOnly = false } = options;
  if (path === ":memory:") return { database: connect(options), version: 0 };
  if (!existsSync(path)) {
    if (readOnly) throw new OffstageError("store-failed", `"${path}" does not exist, and is opened for reading only.`);
    createFile(options);
  }
  checkFile(path);
  let database: DatabaseSync | undefined;
  try {
    database = readOnly ? connectToRead(options) : connect(options);
    const version = versionOf(database, path);
    if (statSync(path).size <= checkedBytes) checkPages(database, path);
    return { database, version };
  } catch (error) {
    database?.close();
    throw refusal(error, path);
  }
}

/** Throws `store-corrupt` if the file is damaged. */
export function checkPages(database: DatabaseSync, path: string): void {
  const found = database.prepare("PRAGMA integrity_check(1)").get()?.integrity_check;
  if (found === "ok") return;
  const message = `"${path}" is damaged. Nothing was changed. Restore a backup, or recover it with the sqlite3 tool. (${found})`;
  throw new OffstageError("store-corrupt", message);
}

const maxBackups = 100;

/** Writes a consistent copy to a new file. */
export async function backupFile(database: DatabaseSync, target: string): Promise<void> {
  if (existsSync(target)) {
    throw new OffstageError("invalid-argument", `"${target}" already exists. backup() needs the path of a new file.`);
  }
  checkFolder(target);
  for (let attempt = 1; ; attempt++) {
    try {
      await loadSqlite().backup(database, target);
      return;
    } catch (error) {
      rmSync(target, { force: true });
      if (!isBusy(error) || attempt === maxBackups) throw error;
    }
  }
}

// node:sqlite fails with code 0 if its first step meets a write of this process in progress.
function isBusy(error: unknown): boolean {
  return (error as { errcode?: unknown }).errcode === 0;
}

// SQLite reads a file together with its log, and creates an empty log if there is none. Without permission to do so, on a
// read-only disk for instance, it can read the file only as one without writers.
function connectToRead({ path, timeoutMs = 5_000 }: OpenOptions): DatabaseSync {
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(path, { timeout: timeoutMs, readOnly: true });
  try {
    schemaOf(database);
    return database;
  } catch (error) {
    database.close();
    if (!isNotPermitted(error) || existsSync(`${path}-wal`)) throw error;
    const address = pathToFileURL(path);
    address.searchParams.set("immutable", "1");
    return new DatabaseSync(address, { readOnly: true });
  }
}

// SQLITE_READONLY and SQLITE_CANTOPEN
function isNotPermitted(error: unknown): boolean {
  const { errcode } = error as { errcode?: unknown };
  return typeof errcode === "number" && [8, 14].includes(errcode & 0xff);
}

function connect({ path, durability = "normal", timeoutMs = 5_000, maxBytes }: OpenOptions): DatabaseSync {
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(path, { timeout: timeoutMs });
  database.exec(`PRAGMA synchronous = ${durability === "full" ? "FULL" : "NORMAL"}`);
  if (maxBytes !== undefined) database.exec(`PRAGMA max_page_count = ${Math.max(1, Math.trunc(maxBytes / 4096))}`);
  return database;
}

/** Loads node:sqlite without the warning that it is experimental. */
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

// Creates the file under a temporary name and then links it into place, so that no process sees an unfinished file.
function createFile({ path, ...options }: OpenOptions): void {
  checkFolder(path);
  const draft = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}.new`;
  try {
    const database = connect({ ...options, path: draft });
    markFile(database);
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

// Linking never replaces an existing file. If the file system has no links, rename instead.
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

// Only stats the file: opening and closing it would release the locks of other connections of this process.
function checkFile(path: string): void {
  const found = statSync(path);
  if (!found.isFile()) throw foreign(path, "is not a file");
  if (found.size === 0) throw emptyFile(path);
}

// A file that SQLite cannot read is foreign, unless it starts with the header of a database: then it is damaged.
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
  if (id === oldApplicationId)
    throw foreign(path, "was written by a development version before 0.1.0 and cannot be read");
  if (id !== applicationId) throw foreign(path, "is a database of another program");
  return schemaOf(database);
}

function foreign(path: string, what: string): OffstageError {
  return new OffstageError("store-foreign", `"${path}" ${what}. Nothing was changed. Choose another path.`);
}

function emptyFile(path: string): OffstageError {
  const message = `"${path}" is empty: it was truncated, or is not a store. Nothing was changed. Remove the file to create a new store.`;
  return new OffstageError("store-corrupt", message);
}

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
  // IMMEDIATE waits for other writers; a plain BEGIN fails at once when it turns into a write.
  database.exec("BEGIN IMMEDIATE");
  try {
    // A store in memory is not marked yet, and its backup is a file.
    markFile(database);
    database.exec(createCounter);
    for (const name of tableNames) prepareTable(database, name);
    database.exec(`PRAGMA user_version = ${Math.max(version, schemaOf(database))}`);
    database.exec("COMMIT");
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

function prepareTable(database: DatabaseSync, name: TableName): void {
  database.exec(`${createTable(sqliteDialect, name)}${ordered.has(name) ? " WITHOUT ROWID" : ""}`);
  const found = database.prepare(`PRAGMA table_info(${name})`).all();
  const names = new Set(found.map((column) => column.name));
  const missing = Object.keys(tableOf(name).columns).filter((column) => !names.has(column));
  for (const column of missing) database.exec(addColumn(sqliteDialect, name, column));
  for (const index of createIndexes(sqliteDialect, name)) database.exec(index);
}

/** Marks a file as ours. */
function markFile(database: DatabaseSync): void {
  database.exec(`PRAGMA application_id = ${applicationId}`);
}

/** The schema version of an open database; 0 for a new one. */
export function schemaOf(database: DatabaseSync): number {
  return Number(database.prepare("PRAGMA user_version").get()?.user_version);
}
