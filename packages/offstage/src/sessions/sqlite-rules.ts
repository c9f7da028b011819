// What the options of a SQLite store may be. Checked where they are given: the driver is loaded later.
import { numberFrom, type OptionRules, oneOf, positiveNumber, someText } from "../messages/check-options.ts";

// A path in their place would be passed over, and the default one written to.
export const sqliteOwner = "The options of a SQLite store, such as { path },";

export const sqliteRules: OptionRules = {
  path: someText,
  durability: oneOf("normal", "full"),
  timeoutMs: numberFrom(0),
  maxBytes: positiveNumber,
};
