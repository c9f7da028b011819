// What the options of a SQLite store may be. Checked where they are given: the driver is loaded later.
import {
  checkNames,
  checkOptions,
  numberFrom,
  type OptionRules,
  oneOf,
  positiveNumber,
} from "../messages/check-options.ts";
import { coreRules } from "./store-core.ts";

const sqliteRules: OptionRules = {
  path: {
    isFit: (value) => typeof value === "string" && value !== "" && !value.startsWith("file:"),
    words: 'a path, such as "./offstage.db", and no URL',
  },
  durability: oneOf("normal", "full"),
  timeoutMs: numberFrom(0),
  maxBytes: positiveNumber,
};

/** Throws `invalid-argument` unless they can be meant: a path misspelt, or in their place, would write to the default file. */
export function checkSqliteOptions(options: object): void {
  const owner = "The options of a SQLite store, such as { path },";
  checkOptions(options, sqliteRules, owner);
  checkNames(options, { ...sqliteRules, ...coreRules }, owner);
}
