// Shapes: small checks that a value read from a row has the form that is written. JSON of another form is damage, as on back ends without row sums.
import { isObject } from "../messages/json.ts";

/** Whether a value has a form. */
export type Shape = (value: unknown) => boolean;

export const isText: Shape = (value) => typeof value === "string";
export const isCount: Shape = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
export const isList: Shape = (value) => Array.isArray(value);
export const isNull: Shape = (value) => value === null;
/** A number; what was not finite is null in JSON. */
export const isNumber: Shape = (value) => typeof value === "number" || value === null;

/** One of several forms. */
export function some(...shapes: readonly Shape[]): Shape {
  return (value) => shapes.some((shape) => shape(value));
}

/** One of these texts. */
export function oneOf(...texts: readonly string[]): Shape {
  return (value) => texts.includes(value as string);
}

/** A form, or nothing at all. */
export function mayBe(shape: Shape): Shape {
  return (value) => value === undefined || shape(value);
}

/** A form, or 0 in its place. */
export function orZero(shape: Shape): Shape {
  return (value) => value === 0 || shape(value);
}

export function listOf(shape: Shape): Shape {
  return (value) => Array.isArray(value) && value.every(shape);
}

/** A list with these elements, and no more. */
export function tuple(...shapes: readonly Shape[]): Shape {
  return (value) =>
    Array.isArray(value) && value.length <= shapes.length && shapes.every((shape, index) => shape(value[index]));
}

/** An object whose fields have these forms; others are not looked at. */
export function fields(shapes: Readonly<Record<string, Shape>>): Shape {
  return (value) => isObject(value) && Object.entries(shapes).every(([name, shape]) => shape(value[name]));
}

/** The counts of a usage, or a usage as it was given. */
export const isUsage: Shape = some(listOf(isNumber), isObject);

/** What a row is read with whose form one look tells; throws where it is another. */
export function shaped<T>(isFit: (value: unknown) => value is T): (value: unknown) => T {
  return (value) => {
    if (!isFit(value)) throw otherForm();
    return value;
  };
}

/** What is wrong with a row that is JSON and not what is written. */
export function otherForm(): Error {
  return new Error("it does not have the form that is written");
}
