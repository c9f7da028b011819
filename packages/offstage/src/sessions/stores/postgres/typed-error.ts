// What Postgres and its client report, as an error of ours that names the place and says what to do.
import { type ErrorCode, isOffstageError, messageOf, OffstageError } from "../../../errors.ts";
import { encodeHint } from "../../address.ts";

// SQLSTATE codes and classes, see https://www.postgresql.org/docs/current/errcodes-appendix.html, and codes of sockets.
const known: readonly (readonly [RegExp, ErrorCode, string])[] = [
  [/^(08|57P0)/, "store-connection", "lost the connection; whether the last write was kept is not known."],
  [
    /^(E[A-Z]+|CONNECTION)$/,
    "store-connection",
    "cannot be reached. Check that it runs and that the address is right.",
  ],
  [/^40(001|P01)$/, "store-connection", "had two writers at once; this one was undone and may be repeated."],
  [/^53100$/, "store-full", "has a full disk. Nothing of this write was kept."],
  [/^53300$/, "store-connection", "has no connection left. Raise its limit or use a smaller pool."],
  [/^25006$/, "store-read-only", "is read-only. Connect to the primary."],
  [/^(55P03|57014)$/, "store-locked", "kept a write waiting for too long. Try again."],
  [/^XX00[12]$/, "store-corrupt", "reports damaged data. Nothing was changed; restore a backup."],
  [/^ERR_INVALID_URL$/, "invalid-argument", `has an invalid address. ${encodeHint}`],
  [/^28/, "store-failed", "refused the user or password."],
  [/^42501$/, "store-failed", "does not permit this user to do that. It must be able to make tables and functions."],
];

const unknown: readonly [RegExp, ErrorCode, string] = [/^/, "store-failed", "failed."];

const lost = /terminat|closed|not queryable|timeout|ended/i;

/** The error with a code, or the same where it is one of ours already. */
export function typedError(error: unknown, name: string): Error {
  if (isOffstageError(error)) return error;
  const [, code, sentence] = known.find(([pattern]) => pattern.test(codeOf(error))) ?? unknown;
  return new OffstageError(code, `${name} ${sentence} (${messageOf(error)})`, { cause: error });
}

/** The SQLSTATE or system code of an error; the client's own errors have none and are told by their words. */
export function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  if (typeof code === "string") return code;
  return lost.test(messageOf(error)) ? "CONNECTION" : "";
}
