// Checks of ids, and the error for rows that are damaged: these are reported and skipped, never removed.
import { shownValue } from "../../base/options.ts";
import { messageOf, OffstageError } from "../../errors.ts";

/** Reports a row that cannot be read. If it throws, the read fails; otherwise the row is skipped. */
export type Report = (error: OffstageError) => void;

/** The error for data that is not as it was written. */
export function corrupt(name: string, cause: unknown): OffstageError {
  return new OffstageError("store-corrupt", `Damage in ${name}: ${messageOf(cause)}. Nothing was changed.`, { cause });
}

/** The most bytes of an id. */
export const longestId = 512;

/** True if every back end can store the text as it is. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/** True if the value can be an id: text of 1 to 512 bytes, well-formed and without NUL. */
export function isId(value: unknown): value is string {
  return typeof value === "string" && value !== "" && isStorable(value) && Buffer.byteLength(value) <= longestId;
}

/** Throws `invalid-argument` unless the value can be an id. */
export function checkId(id: unknown, what: string): asserts id is string {
  if (isId(id)) return;
  const found = typeof id === "string" && id.length > 80 ? `text of ${Buffer.byteLength(id)} bytes` : shownValue(id);
  throw new OffstageError(
    "invalid-argument",
    `A ${what} must be text of 1 to ${longestId} bytes, without NUL and lone surrogates; found ${found}.`,
  );
}
