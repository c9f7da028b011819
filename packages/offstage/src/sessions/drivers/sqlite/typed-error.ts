// Converts errors of SQLite and the file system to OffstageErrors that name the file.
import { dirname } from "node:path";
import { type ErrorCode, isOffstageError, messageOf, OffstageError } from "../../../errors.ts";

type Sentence = readonly [ErrorCode, string];

const readOnly: Sentence = ["store-read-only", "cannot be written. Check the permissions of the file and its folder."];
const full: Sentence = [
  "store-full",
  "cannot grow: the disk is full, or the size limit is reached. Nothing was written.",
];
const unopened: Sentence = ["store-failed", "cannot be opened. Check that its folder exists and is accessible."];
const unknown: Sentence = ["store-failed", "failed."];

// Primary result codes of SQLite (https://sqlite.org/rescode.html) and system error codes.
const known: Readonly<Record<string, Sentence>> = {
  5: ["store-locked", "was locked by another process for longer than the timeout. Try again, or raise timeoutMs."],
  6: ["store-locked", "is locked by another connection. Try again."],
  8: readOnly,
  11: ["store-corrupt", "is damaged. Nothing was changed. Restore a backup, or recover it with the sqlite3 tool."],
  13: full,
  14: unopened,
  26: ["store-corrupt", "is damaged: it cannot be read as a database. Nothing was changed."],
  EACCES: readOnly,
  EPERM: readOnly,
  EROFS: readOnly,
  ENOSPC: full,
  EDQUOT: full,
  ENOENT: unopened,
  ENOTDIR: unopened,
};

/** Converts an error; returns an OffstageError as it is. */
export function typedError(error: unknown, path: string): Error {
  if (isOffstageError(error)) return error;
  const { errcode, code: systemCode } = error as { errcode?: unknown; code?: unknown };
  const key = typeof errcode === "number" ? errcode & 0xff : String(systemCode);
  const sentence = known[key] ?? unknown;
  const [code, text] = sentence === unopened && !isWritable(path) ? readOnly : sentence;
  return new OffstageError(code, `${nameOf(path)} ${text} (${messageOf(error)})`, { cause: error });
}

/** The file, as errors name it. */
export function nameOf(path: string): string {
  return path === ":memory:" ? "SQLite in memory" : `SQLite file "${path}"`;
}

// For a folder without write permission, SQLite only reports that it cannot open the file.
function isWritable(path: string): boolean {
  const { accessSync, constants } = process.getBuiltinModule("node:fs");
  try {
    accessSync(dirname(path), constants.W_OK);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
}
