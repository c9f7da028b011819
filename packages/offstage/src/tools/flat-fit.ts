// Flat schemas: an object of texts, numbers and truth values, as most tools take. What fits one is seen at a glance.
import { isObject } from "../base/json.ts";

type Schema = Record<string, unknown>;

interface Field {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
}

const shapeWords: ReadonlySet<string> = new Set(
  "$schema title description type properties required additionalProperties".split(" "),
);
const fieldWords: ReadonlySet<string> = new Set("title description default examples type".split(" "));
const fieldTypes: ReadonlySet<unknown> = new Set(["string", "number", "integer", "boolean"]);

/**
 * Tells whether a value surely fits; one that may not is checked keyword by keyword, which also says why. Undefined where
 * the schema asks for more than the types of fields.
 */
export function flatFit(schema: Schema): ((value: unknown) => boolean) | undefined {
  const { type, properties, required = [], additionalProperties: others = true } = schema;
  if (type !== "object" || !isObject(properties) || !isListOfNames(required) || typeof others !== "boolean")
    return undefined;
  if (!hasOnly(schema, shapeWords)) return undefined;
  const fields = Object.entries(properties).map(([name, each]) => fieldOf(name, each, required));
  if (!fields.every((each) => each !== undefined) || required.some((name) => !Object.hasOwn(properties, name)))
    return undefined;
  return (value) => isObject(value) && fits(fields, value, others);
}

function fieldOf(name: string, schema: unknown, required: readonly string[]): Field | undefined {
  if (!isObject(schema) || !fieldTypes.has(schema.type) || !hasOnly(schema, fieldWords)) return undefined;
  return { name, type: String(schema.type), isRequired: required.includes(name) };
}

function fits(fields: readonly Field[], value: Record<string, unknown>, mayHaveOthers: boolean): boolean {
  let count = 0;
  for (let i = 0; i < fields.length; i++) {
    const { name, type, isRequired } = fields[i] as Field;
    if (isOwnField(value, name)) {
      count++;
      if (!isOfType(type, value[name])) return false;
    } else if (isRequired) return false;
  }
  return mayHaveOthers || Object.keys(value).length === count;
}

// Own, and among its keys.
function isOwnField(value: object, name: string): boolean {
  return Object.prototype.propertyIsEnumerable.call(value, name);
}

function isOfType(type: string, value: unknown): boolean {
  return type === "integer" ? Number.isInteger(value) : typeof value === type;
}

function hasOnly(schema: Schema, words: ReadonlySet<string>): boolean {
  return Object.keys(schema).every((word) => words.has(word));
}

function isListOfNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}
