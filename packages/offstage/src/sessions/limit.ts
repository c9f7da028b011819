// The one meaning of a limit: undefined is all, 0 is none, n is the latest n, anything else is a mistake.

import { shownValue } from "../base/options.ts";
import { OffstageError } from "../errors.ts";

/** The limit as given; `invalid-argument` where it is neither undefined nor a whole number from 0. */
export function checkLimit(limit: number | undefined, name = "limit"): number | undefined {
  if (limit === undefined || (Number.isSafeInteger(limit) && limit >= 0)) return limit;
  throw new OffstageError("invalid-argument", `"${name}" must be a whole number from 0; found ${shownValue(limit)}.`);
}

/** The latest `limit` of a list. */
export function latest<T>(list: readonly T[], limit: number | undefined): T[] {
  const count = checkLimit(limit);
  return count === undefined ? list.slice() : list.slice(Math.max(0, list.length - count));
}
