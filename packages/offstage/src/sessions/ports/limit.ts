// Limits: undefined is all, 0 is none, n is the latest n, any other value is invalid.

import { shownValue } from "../../base/options.ts";
import { OffstageError } from "../../errors.ts";

/** Returns the limit; throws `invalid-argument` unless it is undefined or a whole number of at least 0. */
export function checkLimit(limit: number | undefined, name = "limit"): number | undefined {
  if (limit === undefined || (Number.isSafeInteger(limit) && limit >= 0)) return limit;
  throw new OffstageError(
    "invalid-argument",
    `"${name}" must be a whole number of at least 0; found ${shownValue(limit)}.`,
  );
}
