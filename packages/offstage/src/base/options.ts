// Checks options against a table of rules. Unknown names and values that do not fit throw, with a sentence that says what is valid.
import { OffstageError } from "../errors.ts";
import { isObject } from "./json.ts";

/** The values an option may have: as a test, and in words for the error. */
export interface OptionRule {
  readonly isFit: (value: unknown) => boolean;
  readonly words: string;
}

export type OptionRules = Readonly<Record<string, OptionRule>>;

/** The names that other libraries use, and the ones to use instead. */
export type OptionHints = Readonly<Record<string, string>>;

/**
 * Throws `invalid-argument` at the first option that is unknown or does not fit its rule. Options that are undefined count as
 * left out. Inherited options count too, but unknown inherited names are ignored: they may be methods of a class. `owner` names
 * the options in the error: "run" gives `Unknown run option "x"`.
 */
export function checkOptions(options: unknown, rules: OptionRules, owner: string, hints: OptionHints = {}): void {
  if (!isObject(options)) throw invalid(`The ${owner} options must be an object; found ${shownValue(options)}.`);
  for (const name in options) {
    const value = options[name];
    if (value === undefined) continue;
    if (Object.hasOwn(rules, name)) checkValue(name, value, rules[name] as OptionRule);
    else if (Object.hasOwn(options, name)) throw unknownOption(name, rules, owner, hints);
  }
}

/** Throws `invalid-argument` unless the value is undefined or fits the rule. */
export function checkValue(name: string, value: unknown, rule: OptionRule): void {
  if (value !== undefined) checkRequired(name, value, rule);
}

/** Throws `invalid-argument` if the value is missing or does not fit the rule. */
export function checkRequired(name: string, value: unknown, { isFit, words }: OptionRule): void {
  if (!isFit(value)) throw invalid(`"${name}" must be ${words}; found ${shownValue(value)}.`);
}

function unknownOption(name: string, rules: OptionRules, owner: string, hints: OptionHints): OffstageError {
  const hint = Object.hasOwn(hints, name) ? ` Use ${hints[name]} instead.` : "";
  const valid = Object.keys(rules).join(", ");
  return invalid(`Unknown ${owner} option "${name}".${hint} Valid options: ${valid}.`);
}

/** One of these texts. */
export function oneOf(...values: readonly string[]): OptionRule {
  const quoted = values.map((value) => `"${value}"`);
  const words = `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`;
  return { isFit: (value) => values.includes(value as string), words };
}

/** An object or function with these methods; `words` describe it in the error. */
export function objectWith(words: string, ...methods: readonly string[]): OptionRule {
  const isFit = (value: unknown): boolean =>
    ((typeof value === "object" && value !== null) || typeof value === "function") &&
    methods.every((name) => typeof (value as Record<string, unknown>)[name] === "function");
  return { isFit, words };
}

/** A number of at least `least`. */
export function numberFrom(least: number): OptionRule {
  return { isFit: (value) => typeof value === "number" && value >= least, words: `a number of at least ${least}` };
}

/** A whole number of at least `least`. */
export function wholeFrom(least: number): OptionRule {
  return {
    isFit: (value) => Number.isInteger(value) && (value as number) >= least,
    words: `a whole number of at least ${least}`,
  };
}

/** Any value, because it is checked elsewhere. */
export const anything: OptionRule = { isFit: () => true, words: "anything" };
export const yesOrNo: OptionRule = { isFit: (value) => typeof value === "boolean", words: "true or false" };
export const someText: OptionRule = { isFit: (value) => typeof value === "string" && value !== "", words: "text" };
export const someFunction: OptionRule = { isFit: (value) => typeof value === "function", words: "a function" };
export const positiveNumber: OptionRule = {
  isFit: (value) => typeof value === "number" && value > 0,
  words: "a positive number",
};

/** A value for an error message: short values themselves, others by their type. Hides the password of a URL. */
export function shownValue(value: unknown): string {
  if (typeof value === "string") return shownText(value);
  if (Array.isArray(value)) return "a list";
  if (value instanceof Date)
    return Number.isNaN(value.getTime()) ? "an invalid Date" : `a Date, ${value.toISOString()}`;
  return isObject(value) || typeof value === "function" || typeof value === "symbol" ? typeof value : String(value);
}

function shownText(text: string): string {
  const shown = withoutCredentials(text);
  return JSON.stringify(shown.length > 60 ? `${shown.slice(0, 60)}…` : shown);
}

// In a URL, everything between "://" and the last "@" may be a user and a password.
function withoutCredentials(text: string): string {
  const start = text.indexOf("://");
  const end = text.lastIndexOf("@");
  return start < 0 || end < start ? text : `${text.slice(0, start)}://***${text.slice(end)}`;
}

function invalid(message: string): OffstageError {
  return new OffstageError("invalid-argument", message);
}
