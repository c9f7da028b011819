// Shapes: small guards that a value read from a row has the form that is written. JSON of another form is damage, as on back ends without row sums.
import { isObject } from "../base/json.ts";
import type { Usage } from "../tokens/usage.ts";

/** Whether a value has a form. */
export type Shape<T> = (value: unknown) => value is T;

type Shapes<List extends readonly unknown[]> = { readonly [Place in keyof List]-?: Shape<List[Place]> };

export const isText: Shape<string> = (value) => typeof value === "string";
export const isCount: Shape<number> = (value): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
export const isList: Shape<readonly unknown[]> = (value) => Array.isArray(value);
export const isNull: Shape<null> = (value) => value === null;
/** A number; what was not finite is null in JSON. */
export const isNumberOrNull: Shape<number | null> = (value) => typeof value === "number" || value === null;

/** One of several forms. */
export function some<List extends readonly unknown[]>(...shapes: Shapes<List>): Shape<List[number]> {
  return (value): value is List[number] => shapes.some((shape) => shape(value));
}

/** One of these texts. */
export function oneOf<Text extends string>(...texts: readonly Text[]): Shape<Text> {
  return (value): value is Text => texts.includes(value as Text);
}

/** A form, or nothing at all. */
export function mayBe<T>(shape: Shape<T>): Shape<T | undefined> {
  return (value): value is T | undefined => value === undefined || shape(value);
}

/** A form, or 0 in its place. */
export function orZero<T>(shape: Shape<T>): Shape<T | 0> {
  return (value): value is T | 0 => value === 0 || shape(value);
}

export function listOf<T>(shape: Shape<T>): Shape<readonly T[]> {
  return (value): value is readonly T[] => Array.isArray(value) && value.every(shape);
}

/** A list with these elements, and no more. */
export function tuple<List extends readonly unknown[]>(...shapes: Shapes<List>): Shape<List> {
  return (value): value is List =>
    Array.isArray(value) && value.length <= shapes.length && shapes.every((shape, index) => shape(value[index]));
}

/** An object whose fields have these forms; others are not looked at. */
export function fields<T extends object>(
  shapes: {
    readonly [Name in keyof T]-?: Shape<undefined extends T[Name] ? T[Name] | undefined : T[Name]>;
  },
): Shape<T> {
  const entries = Object.entries(shapes) as [string, Shape<unknown>][];
  return (value): value is T => isObject(value) && entries.every(([name, shape]) => shape(value[name]));
}

/** An object whose fields others look at. */
export function objectOf<T extends object>(): Shape<T> {
  return (value): value is T => isObject(value);
}

/** The counts of a usage, or a usage as it was given. */
export const isUsage: Shape<readonly (number | null)[] | Usage> = some(listOf(isNumberOrNull), objectOf<Usage>());

/** A guard as a reader: gives what fits, and throws at anything else. */
export function shaped<T>(isFit: Shape<T>): (value: unknown) => T {
  return (value) => {
    if (!isFit(value)) throw otherForm();
    return value;
  };
}

/** What is wrong with a row that is JSON and not what is written. */
export function otherForm(): Error {
  return new Error("it does not have the form that is written");
}
