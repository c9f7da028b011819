// JSON Schema, checked by @cfworker/json-schema. Only this file knows the package. It closes the package's gaps: the package gets
// a copy of a schema that was checked, values of bounded depth, and limited time.
import { dereference, validate } from "@cfworker/json-schema";
import { isObject } from "../../base/json.ts";
import { withinTime } from "../../base/time-limit.ts";
import { messageOf, OffstageError } from "../../errors.ts";
import { describeProblems } from "./describe-problems.ts";
import {
  invalidSchema,
  isMapKeyword,
  leanSchema,
  type Schema,
  type SchemaOwner,
  schemaKeywords,
} from "./lean-schema.ts";
import { isLinearPattern } from "./pattern.ts";

/** The value to use, or the problems of the value that was checked. */
export type Checked = { readonly value: unknown } | { readonly problems: readonly string[] };

const timeoutMs = 100;
// How many schemas the package can nest, which takes the stack. Measured: about 500 before V8 has compiled it.
const maxNested = 384;

/** The check of a JSON Schema, as a schema has one: see `compileJsonSchema`. */
export function jsonSchemaCheck(schema: Schema, owner: SchemaOwner): (value: unknown) => Promise<Checked> {
  const problemsIn = compileJsonSchema(schema, owner);
  return async (value) => {
    const problems = problemsIn(value);
    return problems.length === 0 ? { value } : { problems };
  };
}

/**
 * Returns a function that says what is wrong with a value: one sentence each, with its place; none if it fits. It never throws.
 * Compiles a JSON Schema, of draft 7 or 2020-12. "format" and other annotations constrain nothing. Throws if the
 * schema is malformed, refers to something outside of it, refers to itself without end, or has an invalid pattern.
 */
export function compileJsonSchema(schema: Schema, owner: SchemaOwner): (value: unknown) => readonly string[] {
  const isDraft7 = /draft-0[4-7]/.test(String(schema.$schema));
  const lean = leanSchema(schema, { owner, isDraft7 });
  const lookup = schemasByUri(lean, owner);
  const follow = ({ __absolute_ref__: uri, $ref }: Schema) => lookup[String(uri ?? $ref)];
  const parts = reachableParts(lean, { owner, follow });
  const maxDepth = Math.floor(maxNested / longestChain(parts, { owner, follow }));
  const run = (value: unknown, shortCircuit: boolean) =>
    validate(value, lean, isDraft7 ? "7" : "2020-12", lookup, shortCircuit);
  const check = parts.some(canBeSlow) ? inTime(run) : (value: unknown) => run(value, false);
  return (value) => {
    if (isDeeperThan(maxDepth, value)) return [`is nested more than ${maxDepth} levels deep`];
    try {
      const { valid, errors } = check(value);
      return valid ? [] : describeProblems(errors, { schema: lean, value, follow });
    } catch (error) {
      return [error instanceof OffstageError ? error.message : `cannot be checked: ${messageOf(error)}`];
    }
  };
}

function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((each) => isDeeperThan(levels - 1, each));
}

type Run = (value: unknown, shortCircuit: boolean) => ReturnType<typeof validate>;

// Stopping at the first problem keeps a schema that refers to itself from trying every form at every level. Only a value that
// does not fit is checked again, for the rest of its problems.
function inTime(run: Run): (value: unknown) => ReturnType<typeof validate> {
  const late = () => new OffstageError("pattern-timeout", `cannot be checked within ${timeoutMs} ms`);
  return (value) => {
    const first = withinTime(() => run(value, true), { timeoutMs, late });
    if (first.valid) return first;
    try {
      return withinTime(() => run(value, false), { timeoutMs, late });
    } catch {
      return first;
    }
  };
}

function schemasByUri(lean: Schema, owner: SchemaOwner): Record<string, Schema | boolean> {
  try {
    return dereference(lean);
  } catch (error) {
    throw invalidSchema(owner, "", messageOf(error));
  }
}

interface Walk {
  readonly owner: SchemaOwner;
  readonly follow: (schema: Schema) => unknown;
}

/** Every schema that a value can meet. Throws at a reference that leads nowhere. */
function reachableParts(root: Schema, walk: Walk): readonly Schema[] {
  const parts = new Set<Schema>([root]);
  // A set that grows is walked to its end, and takes nothing twice.
  for (const part of parts) {
    if (part.$ref !== undefined && walk.follow(part) === undefined)
      throw invalidSchema(walk.owner, "", `"$ref" leads nowhere: "${part.$ref}". References must stay in the schema.`);
    for (const inner of [...partsInPlace(part, walk), ...partsUnder(part, descending)]) parts.add(inner);
  }
  return [...parts];
}

// Keywords whose schemas are about the value itself, and those whose schemas are about its items and properties.
const inPlace = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"];
const descending = schemaKeywords.filter((keyword) => ![...inPlace, "$defs", "definitions"].includes(keyword));

function partsInPlace(part: Schema, { follow }: Walk): Schema[] {
  const target = part.$ref === undefined ? undefined : follow(part);
  return [...(isObject(target) ? [target] : []), ...partsUnder(part, inPlace)];
}

function partsUnder(part: Schema, keywords: readonly string[]): Schema[] {
  return keywords.flatMap((keyword) => {
    const held = part[keyword];
    const list: readonly unknown[] = isObject(held) && isMapKeyword(keyword) ? Object.values(held) : [held].flat();
    return list.filter(isObject);
  });
}

const maxChain = 64;

// How many schemas one value meets within each other. A chain that comes back to itself would never end.
function longestChain(parts: readonly Schema[], walk: Walk): number {
  const lengths = new Map<Schema, number>();
  const open = new Set<Schema>();
  const lengthOf = (part: Schema): number => {
    const known = lengths.get(part);
    if (known !== undefined) return known;
    if (open.has(part))
      throw invalidSchema(walk.owner, "", "its references go in a circle that never enters the value.");
    open.add(part);
    const length = open.size > maxChain ? open.size : 1 + Math.max(0, ...partsInPlace(part, walk).map(lengthOf));
    if (length > maxChain)
      throw invalidSchema(walk.owner, "", `a chain of references has more than ${maxChain} links.`);
    open.delete(part);
    lengths.set(part, length);
    return length;
  };
  return Math.max(...parts.map(lengthOf));
}

function canBeSlow({ $ref, uniqueItems, pattern, patternProperties }: Schema): boolean {
  if ($ref !== undefined || uniqueItems === true) return true;
  const patterns = [...(typeof pattern === "string" ? [pattern] : []), ...Object.keys(patternProperties ?? {})];
  return !patterns.every(isLinearPattern);
}
