// Options that people hand in, checked by a table of rules. One sentence for all: which option, what it must be, what was found.
import { OffstageError } from "../errors.ts";
import { isObject } from "./json.ts";

/** What an option may be: as a test, and in words. */
export interface OptionRule {
  readonly isFit: (value: unknown) => boolean;
  readonly words: string;
}

export type OptionRules = Readonly<Record<string, OptionRule>>;

/**
 * Throws `invalid-argument` at the first option that does not fit its rule; what has no rule, or is undefined, passes.
 * `owner` is whose options they are, as a sentence begins: "The options of a run".
 */
export function checkOptions(options: unknown, rules: OptionRules, owner: string): void {
  if (!isObject(options))
    throw new OffstageError("invalid-argument", `${owner} are an object; found ${shownValue(options)}.`);
  for (const name in options) {
    const value = options[name];
    if (value === undefined || !Object.hasOwn(rules, name)) continue;
    const { isFit, words } = rules[name] as OptionRule;
    if (!isFit(value))
      throw new OffstageError("invalid-argument", `"${name}" must be ${words}; found ${shownValue(value)}.`);
  }
}

/** The same, and throws at an option that none of the rules knows, unless it is undefined. */
export function checkOnly(options: unknown, rules: OptionRules, owner: string): void {
  checkOptions(options, rules, owner);
  checkNames(options as object, rules, owner);
}

/** Throws `invalid-argument` at an option that none of the rules knows; what is undefined passes. */
export function checkNames(options: object, rules: OptionRules, owner: string): void {
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(rules, name) || (options as Record<string, unknown>)[name] === undefined) continue;
    const known = Object.keys(rules).join(", ");
    throw new OffstageError("invalid-argument", `${owner} have no "${name}"; they are ${known}.`);
  }
}

/** Throws a `RangeError` where a limit that is given does not fit its rule. */
export function checkRange(name: string, limit: unknown, { isFit, words }: OptionRule): void {
  if (limit !== undefined && !isFit(limit))
    throw new RangeError(`"${name}" must be ${words}; found ${shownValue(limit)}.`);
}

/** One of these texts. */
export function oneOf(...values: readonly string[]): OptionRule {
  const quoted = values.map((value) => `"${value}"`);
  const words = `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`;
  return { isFit: (value) => values.includes(value as string), words };
}

/** An object with these methods; `words` say what it is. */
export function having(words: string, ...methods: readonly string[]): OptionRule {
  const isFit = (value: unknown): boolean =>
    ((typeof value === "object" && value !== null) || typeof value === "function") &&
    methods.every((name) => typeof (value as Record<string, unknown>)[name] === "function");
  return { isFit, words };
}

/** A number from `least` on. */
export function numberFrom(least: number): OptionRule {
  return { isFit: (value) => typeof value === "number" && value >= least, words: `a number from ${least}` };
}

/** A whole number from `least` on. */
export function wholeFrom(least: number): OptionRule {
  return {
    isFit: (value) => Number.isInteger(value) && (value as number) >= least,
    words: `a whole number from ${least}`,
  };
}

/** Whatever it is: somebody else checks it. */
export const anything: OptionRule = { isFit: () => true, words: "anything" };
export const yesOrNo: OptionRule = { isFit: (value) => typeof value === "boolean", words: "true or false" };
export const someText: OptionRule = { isFit: (value) => typeof value === "string" && value !== "", words: "text" };
export const someFunction: OptionRule = { isFit: (value) => typeof value === "function", words: "a function" };
export const positiveNumber: OptionRule = {
  isFit: (value) => typeof value === "number" && value > 0,
  words: "a positive number",
};

/** How an error shows what it found: short values as they are, others by what they are. */
export function shownValue(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
  if (Array.isArray(value)) return "a list";
  if (value instanceof Date)
    return Number.isNaN(value.getTime()) ? "an invalid Date" : `a Date, ${value.toISOString()}`;
  return isObject(value) || typeof value === "function" || typeof value === "symbol" ? typeof value : String(value);
}
