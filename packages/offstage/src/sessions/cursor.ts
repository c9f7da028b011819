// Cursors: the start of the next page of a list. A number that defines the order, a dot, and an id that makes it unique.
import type { OptionRule } from "../base/options.ts";
import { keyNumber, numberKey } from "./row-keys.ts";

/** Accepts a cursor that a list returned. Any other text would select all of the list, or none of it. */
export const someCursor: OptionRule = {
  isFit: (value) => typeof value === "string" && isCursor(value),
  words: 'a "cursor" that the list returned',
};

function isCursor(text: string): boolean {
  const n = keyNumber(text);
  return Number.isSafeInteger(n) && text.startsWith(`${numberKey(n)}.`);
}
