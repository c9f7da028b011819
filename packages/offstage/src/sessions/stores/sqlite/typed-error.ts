// What SQLite reports, as an error of ours that names the file and says what to do.
import { type ErrorCode, isOffstageError, messageOf, OffstageError } from "../../../errors.ts";

// Primary result codes of SQLite, see https://sqlite.org/rescode.html.
const known: Readonly<Record<number, readonly [ErrorCode, string]>> = {
  5: ["store-locked", "is locked by another process for longer than the timeout. Try again, or raise timeoutMs."],
  6: ["store-locked", "is locked by another connection. Try again."],
  8: ["store-read-only", "cannot be written. Check the permissions of the file and its folder."],
  11: ["store-corrupt", "is damaged. Nothing was changed; restore a backup, or rescue it with the sqlite3 tool."],
  13: ["store-full", "cannot grow: the disk or its size limit is full. Nothing of this write was kept."],
  14: ["store-failed", "cannot be opened. Check that its folder exists and may be used."],
  26: ["store-corrupt", "is damaged: it is not readable as a database. Nothing was changed."],
};

/** The error with a code, or the same where it is one of ours already. */
export function typedError(error: unknown, name: string): Error {
  if (isOffstageError(error)) return error;
  const errcode = (error as { errcode?: unknown }).errcode;
  const [code, sentence] = (typeof errcode === "number" && known[errcode & 0xff]) || [
    "store-failed" as const,
    "failed.",
  ];
  return new OffstageError(code, `${name} ${sentence} (${messageOf(error)})`, { cause: error });
}
