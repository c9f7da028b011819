// What the options of a SQLite store may be. Checked where they are given: the driver is loaded later.
import { numberFrom, type OptionRules, oneOf, positiveNumber, someText } from "../messages/check-options.ts";

export const sqliteRules: OptionRules = {
  path: someText,
  durability: oneOf("normal", "full"),
  timeoutMs: numberFrom(0),
  maxBytes: positiveNumber,
};
