// What SQLite and the file system report, as an error of ours that names the file and says what to do.
import { dirname } from "node:path";
import { type ErrorCode, isOffstageError, messageOf, OffstageError } from "../../../errors.ts";

type Sentence = readonly [ErrorCode, string];

const readOnly: Sentence = ["store-read-only", "cannot be written. Check the permissions of the file and its folder."];
const full: Sentence = [
  "store-full",
  "cannot grow: the disk or its size limit is full. Nothing of this write was kept.",
];
const unopened: Sentence = ["store-failed", "cannot be opened. Check that its folder exists and may be used."];
const unknown: Sentence = ["store-failed", "failed."];

// Primary result codes of SQLite, see https://sqlite.org/rescode.html, and codes of the system.
const known: Readonly<Record<string, Sentence>> = {
  5: ["store-locked", "is locked by another process for longer than the timeout. Try again, or raise timeoutMs."],
  6: ["store-locked", "is locked by another connection. Try again."],
  8: readOnly,
  11: ["store-corrupt", "is damaged. Nothing was changed; restore a backup, or rescue it with the sqlite3 tool."],
  13: full,
  14: unopened,
  26: ["store-corrupt", "is damaged: it is not readable as a database. Nothing was changed."],
  EACCES: readOnly,
  EPERM: readOnly,
  EROFS: readOnly,
  ENOSPC: full,
  EDQUOT: full,
  ENOENT: unopened,
  ENOTDIR: unopened,
};

/** The error with a code, or the same where it is one of ours already. */
export function typedError(error: unknown, path: string): Error {
  if (isOffstageError(error)) return error;
  const { errcode, code: systemCode } = error as { errcode?: unknown; code?: unknown };
  const key = typeof errcode === "number" ? errcode & 0xff : String(systemCode);
  const sentence = known[key] ?? unknown;
  const [code, text] = sentence === unopened && !isWritable(path) ? readOnly : sentence;
  return new OffstageError(code, `${nameOf(path)} ${text} (${messageOf(error)})`, { cause: error });
}

/** How errors call the file. */
export function nameOf(path: string): string {
  return path === ":memory:" ? "SQLite in memory" : `SQLite file "${path}"`;
}

// SQLite says no more than that it cannot open a file whose folder it may not write to.
function isWritable(path: string): boolean {
  const { accessSync, constants } = process.getBuiltinModule("node:fs");
  try {
    accessSync(dirname(path), constants.W_OK);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
}
