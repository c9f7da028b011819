// Converts errors of Postgres and its client to OffstageErrors that name the database.
import { type ErrorCode, isOffstageError, messageOf, OffstageError } from "../../../errors.ts";
import { encodeHint } from "../../ports/address.ts";

// SQLSTATE codes and classes (https://www.postgresql.org/docs/current/errcodes-appendix.html) and socket error codes.
const known: readonly (readonly [RegExp, ErrorCode, string])[] = [
  [/^(08|57P0)/, "store-connection", "lost the connection. The outcome of the last write is unknown."],
  [
    /^(E[A-Z]+|CONNECTION)$/,
    "store-connection",
    "cannot be reached. Check that the server runs and that the address is right.",
  ],
  [/^40(001|P01)$/, "store-connection", "had two concurrent writers. This write was rolled back and may be repeated."],
  [/^53100$/, "store-full", "has a full disk. Nothing was written."],
  [/^53300$/, "store-connection", "has no free connection. Raise its limit, or use a smaller pool."],
  [/^25006$/, "store-read-only", "is read-only. Connect to the primary."],
  [/^(55P03|57014)$/, "store-locked", "timed out while waiting for a lock. Try again."],
  [/^XX00[12]$/, "store-corrupt", "reports damaged data. Nothing was changed. Restore a backup."],
  [/^ERR_INVALID_URL$/, "invalid-argument", `has an invalid address. ${encodeHint}`],
  [/^28/, "store-failed", "refused the user or password."],
  [/^42501$/, "store-failed", "does not permit this. The user must be able to create tables and functions."],
];

const unknown: readonly [RegExp, ErrorCode, string] = [/^/, "store-failed", "failed."];

const lost = /terminat|closed|not queryable|timeout|ended/i;

/** Converts an error; returns an OffstageError as it is. */
export function typedError(error: unknown, name: string): Error {
  if (isOffstageError(error)) return error;
  const [, code, sentence] = known.find(([pattern]) => pattern.test(codeOf(error))) ?? unknown;
  return new OffstageError(code, `${name} ${sentence} (${messageOf(error)})`, { cause: error });
}

/** The SQLSTATE or system code of an error. Errors of the client itself have none, and are recognised by their message. */
export function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  if (typeof code === "string") return code;
  return lost.test(messageOf(error)) ? "CONNECTION" : "";
}
