// Cursors: where the next page of a list begins. A number that orders, a dot, and what tells apart those with the same.
import type { OptionRule } from "../base/options.ts";
import { keyNumber, numberKey } from "./row-keys.ts";

/** A cursor that a list gave. Anything else would be all of the list, or none of it. */
export const someCursor: OptionRule = {
  isFit: (value) => typeof value === "string" && isCursor(value),
  words: 'the "cursor" of what was listed before',
};

function isCursor(text: string): boolean {
  const n = keyNumber(text);
  return Number.isSafeInteger(n) && text.startsWith(`${numberKey(n)}.`);
}
