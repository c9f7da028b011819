// Describes the validator's errors in sentences that a model can act on: the place, the expected value, and the value found.
import { isObject } from "../../base/json.ts";
import { isMapKeyword, type Schema } from "./lean-schema.ts";

/** One finding of the validator. Locations are JSON pointers: into the value, and along the keywords that led there. */
export interface Finding {
  readonly keyword: string;
  readonly keywordLocation: string;
  readonly instanceLocation: string;
  readonly error: string;
}

export interface DescribeOptions {
  readonly schema: Schema;
  readonly value: unknown;
  /** The schema that the "$ref" of a schema stands for. */
  readonly follow: (schema: Schema) => unknown;
}

const maxProblems = 20;

/** The findings as sentences, in the order of the schema; at most twenty, the last of which says how many are left out. */
export function describeProblems(findings: readonly Finding[], options: DescribeOptions): string[] {
  const problems = new Set<string>();
  const mistyped = new Set<string>();
  for (const finding of findings) {
    const { keyword, keywordLocation, instanceLocation } = finding;
    const describe = Object.hasOwn(sentences, keyword) ? sentences[keyword] : undefined;
    const schema = describe && schemaAt(keywordLocation, options);
    if (describe === undefined || schema === undefined) continue;
    // A value of the wrong type fails other keywords as well, which says nothing new.
    const subject = `${keywordLocation.slice(0, keywordLocation.lastIndexOf("/"))} ${instanceLocation}`;
    if (mistyped.has(subject)) continue;
    if (keyword === "type") mistyped.add(subject);
    const path = pathOf(instanceLocation);
    const value = valueAt(path, options.value);
    for (const [sentence, name] of describe({ limit: schema[keyword], schema, value, error: finding.error }))
      problems.add(placed(name === undefined ? path : [...path, name], sentence));
  }
  return bounded([...problems]);
}

function bounded(problems: string[]): string[] {
  if (problems.length <= maxProblems) return problems;
  const shown = problems.slice(0, maxProblems - 1);
  return [...shown, `and ${problems.length - shown.length} more problems`];
}

// The findings beneath these are about one of several forms, or about a name: the finding itself says enough.
const summarized: ReadonlySet<string> = new Set(["anyOf", "oneOf", "not", "if", "contains", "propertyNames"]);

/** The schema that holds the keyword at a location; undefined beneath a keyword that is summarized. */
function schemaAt(location: string, { schema: root, follow }: DescribeOptions): Schema | undefined {
  const path = pathOf(location).slice(0, -1);
  let schema: unknown = root;
  while (path.length > 0) {
    const keyword = path.shift() as string;
    if (summarized.has(keyword) || !isObject(schema)) return undefined;
    const inner: unknown = keyword === "$ref" ? follow(schema) : schema[keyword];
    const isNested = isMapKeyword(keyword) || Array.isArray(inner);
    schema = isNested ? (inner as Schema)[path.shift() as string] : inner;
  }
  return isObject(schema) ? schema : undefined;
}

function pathOf(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"));
}

function valueAt(path: readonly string[], value: unknown): unknown {
  return path.reduce<unknown>((within, name) => (within as Record<string, unknown> | undefined)?.[name], value);
}

function placed(path: readonly string[], sentence: string): string {
  const place = path.reduce((before, name) => {
    if (/^\d+$/.test(name)) return `${before}[${name}]`;
    return before === "" ? name : `${before}.${name}`;
  }, "");
  return place === "" ? sentence : `${place} ${sentence}`;
}

interface Failure {
  /** The keyword's value in the schema. */
  readonly limit: unknown;
  readonly schema: Schema;
  readonly value: unknown;
  readonly error: string;
}

/** A sentence about the value, or about the property of it that is named. */
type Sentence = readonly [sentence: string, name?: string];
type Describe = (failure: Failure) => readonly Sentence[];

const saying =
  (say: (limit: string) => string): Describe =>
  ({ limit }) => [[say(String(limit))]];

// A keyword that is not listed only says that something beneath it is wrong, which has a finding of its own.
const sentences: Readonly<Record<string, Describe>> = {
  type: ({ limit, value }) => [[`must be ${[limit].flat().join(" or ")}, not ${typeOf(value)}`]],
  const: ({ limit, value }) => [[`must be ${json(limit)}, not ${json(value)}`]],
  enum: ({ limit, value }) => [[`must be ${choices(limit)}, not ${json(value)}`]],
  not: ({ limit }) => [
    [isObject(limit) && Object.keys(limit).length === 0 ? "is not allowed" : `must not match ${json(limit)}`],
  ],
  anyOf: () => [["fits none of the allowed forms"]],
  oneOf: ({ error }) => [[`fits ${/\((\d+) matches/.exec(error)?.[1] ?? 0} of the allowed forms instead of one`]],
  required: ({ limit, value }) => missing(limit, value).map((name) => ["is missing", name]),
  dependentRequired: ({ limit, value }) => missingBesides(limit, value),
  dependencies: ({ limit, value }) => missingBesides(limit, value),
  propertyNames: ({ error }) => [[`has a property name that is not allowed: ${/"[\s\S]*"/.exec(error)?.[0] ?? ""}`]],
  minProperties: saying((limit) => `must have at least ${limit} properties`),
  maxProperties: saying((limit) => `must have at most ${limit} properties`),
  minItems: saying((limit) => `must have at least ${limit} items`),
  maxItems: saying((limit) => `must have at most ${limit} items`),
  contains: ({ limit }) => [[`must contain an item that matches ${json(limit)}`]],
  minContains: ({ limit, schema }) => [[`must contain at least ${limit} items that match ${json(schema.contains)}`]],
  maxContains: ({ limit, schema }) => [[`must contain at most ${limit} items that match ${json(schema.contains)}`]],
  uniqueItems: ({ error }) => [[`must have no equal items; ${equalItems(error)} are equal`]],
  minimum: saying((limit) => `must be at least ${limit}`),
  maximum: saying((limit) => `must be at most ${limit}`),
  exclusiveMinimum: saying((limit) => `must be more than ${limit}`),
  exclusiveMaximum: saying((limit) => `must be less than ${limit}`),
  multipleOf: saying((limit) => `must be a multiple of ${limit}`),
  minLength: saying((limit) => `must have at least ${limit} characters`),
  maxLength: saying((limit) => `must have at most ${limit} characters`),
  pattern: saying((limit) => `must match ${limit}`),
};

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function json(value: unknown, maxLength = 200): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`;
}

function choices(limit: unknown): string {
  const text = (limit as readonly unknown[]).map((choice) => json(choice)).join(" or ");
  return text.length <= 2000 ? text : `${text.slice(0, 2000)}…`;
}

function missing(names: unknown, value: unknown): string[] {
  return (names as readonly string[]).filter((name) => !Object.hasOwn(value as object, name));
}

function missingBesides(limit: unknown, value: unknown): Sentence[] {
  return Object.entries(limit as Schema)
    .filter(([name, names]) => Array.isArray(names) && Object.hasOwn(value as object, name))
    .flatMap(([name, names]) =>
      missing(names, value).map((each): Sentence => [`is missing: it goes with ${name}`, each]),
    );
}

function equalItems(error: string): string {
  return [...error.matchAll(/\d+/g)].map(([index]) => `[${index}]`).join(" and ");
}
