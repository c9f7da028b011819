// Guards for values read from rows. JSON of an unexpected form is treated as damage.
import { isObject } from "../base/json.ts";
import type { Usage } from "../tokens/usage.ts";

/** A type guard. */
export type Shape<T> = (value: unknown) => value is T;

type Shapes<List extends readonly unknown[]> = { readonly [Place in keyof List]-?: Shape<List[Place]> };

export const isText: Shape<string> = (value) => typeof value === "string";
export const isCount: Shape<number> = (value): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
export const isList: Shape<readonly unknown[]> = (value) => Array.isArray(value);
export const isNull: Shape<null> = (value) => value === null;
/** A number, or null, which is how JSON writes a number that is not finite. */
export const isNumberOrNull: Shape<number | null> = (value) => typeof value === "number" || value === null;

/** Accepts a value that one of the guards accepts. */
export function some<List extends readonly unknown[]>(...shapes: Shapes<List>): Shape<List[number]> {
  return (value): value is List[number] => shapes.some((shape) => shape(value));
}

/** Accepts one of these texts. */
export function oneOf<Text extends string>(...texts: readonly Text[]): Shape<Text> {
  return (value): value is Text => texts.includes(value as Text);
}

/** Accepts undefined too. */
export function mayBe<T>(shape: Shape<T>): Shape<T | undefined> {
  return (value): value is T | undefined => value === undefined || shape(value);
}

/** Accepts 0 too. */
export function orZero<T>(shape: Shape<T>): Shape<T | 0> {
  return (value): value is T | 0 => value === 0 || shape(value);
}

export function listOf<T>(shape: Shape<T>): Shape<readonly T[]> {
  return (value): value is readonly T[] => Array.isArray(value) && value.every(shape);
}

/** Accepts a list with these elements and no more. */
export function tuple<List extends readonly unknown[]>(...shapes: Shapes<List>): Shape<List> {
  return (value): value is List =>
    Array.isArray(value) && value.length <= shapes.length && shapes.every((shape, index) => shape(value[index]));
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

/** Accepts any object. */
export function objectOf<T extends object>(): Shape<T> {
  return (value): value is T => isObject(value);
}

const isNumber: Shape<number> = (value) => typeof value === "number";
type Counts = Pick<Usage, "inputTokens" | "outputTokens" | "totalTokens">;

/** Accepts an object with the three counts of a usage. */
export const hasCounts: Shape<Counts> = fields<Counts>({
  inputTokens: isNumber,
  outputTokens: isNumber,
  totalTokens: isNumber,
});

const areCounts: Shape<readonly number[]> = (value): value is readonly number[] =>
  Array.isArray(value) && value.length >= 3 && value.every(isNumber);

/** Accepts packed or unpacked usage. */
export const isUsage: Shape<readonly number[] | Counts> = some(areCounts, hasCounts);

/** Makes a guard a reader, which returns the value or throws. */
export function shaped<T>(isFit: Shape<T>): (value: unknown) => T {
  return (value) => {
    if (!isFit(value)) throw otherForm();
    return value;
  };
}

/** The error for a row that is JSON of an unexpected form. */
export function otherForm(): Error {
  return new Error("it has an unexpected form");
}
