// Guards for values read from rows. JSON of an unexpected form is treated as damage.
import { isObject } from "../../base/json.ts";
import type { Usage } from "../../tokens/usage.ts";

/** A type guard. */
export type Shape<T> = (value: unknown) => value is T;

export const isText: Shape<string> = (value) => typeof value === "string";
export const isCount: Shape<number> = (value): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
/** Accepts one of these texts. */
export function oneOf<Text extends string>(...texts: readonly Text[]): Shape<Text> {
  return (value): value is Text => texts.includes(value as Text);
}

/** Accepts undefined too. */
export function mayBe<T>(shape: Shape<T>): Shape<T | undefined> {
  return (value): value is T | undefined => value === undefined || shape(value);
}

export function listOf<T>(shape: Shape<T>): Shape<readonly T[]> {
  return (value): value is readonly T[] => Array.isArray(value) && value.every(shape);
}

/** Accepts an object with these fields; further fields are allowed. */
export function fields<T extends object>(
  shapes: {
    readonly [Name in keyof T]-?: Shape<undefined extends T[Name] ? T[Name] | undefined : T[Name]>;
  },
): Shape<T> {
  const entries = Object.entries(shapes) as [string, Shape<unknown>][];
  return (value): value is T => isObject(value) && entries.every(([name, shape]) => shape(value[name]));
}

const isNumber: Shape<number> = (value) => typeof value === "number";
type Counts = Pick<Usage, "inputTokens" | "outputTokens" | "totalTokens">;

/** Accepts an object with the three counts of a usage. */
export const hasCounts: Shape<Counts> = fields<Counts>({
  inputTokens: isNumber,
  outputTokens: isNumber,
  totalTokens: isNumber,
});
