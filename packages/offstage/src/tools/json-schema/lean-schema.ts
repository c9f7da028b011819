// A lean copy of a JSON Schema: only the keywords that constrain, each checked. Everything that could not be checked later
// is refused here, when a tool or an output is defined.
import { isObject, setField } from "../../base/json.ts";
import { shownValue } from "../../base/options.ts";
import { type ErrorCode, messageOf, OffstageError } from "../../errors.ts";
import { countOptionalParts, unicodePattern } from "./pattern.ts";

export type Schema = Record<string, unknown>;

/** Names the owner of a schema in errors, and gives their code. */
export interface SchemaOwner {
  /** For example `the tool "weather"`. */
  readonly name: string;
  readonly code: ErrorCode;
}

/** The error for a schema that cannot be used. `where` is a path in the schema; empty for the whole of it. */
export function invalidSchema(owner: SchemaOwner, where: string, why: string): OffstageError {
  const place = where === "" ? "" : ` at "${where}"`;
  return new OffstageError(owner.code, `The schema of ${owner.name} is invalid${place}: ${why}`);
}

/** A schema as JSON text. Throws if it is not JSON. */
export function schemaText(schema: Schema, owner: SchemaOwner): string {
  try {
    return JSON.stringify(schema);
  } catch (error) {
    throw invalidSchema(owner, "", error instanceof RangeError ? tooDeep : `it is not JSON. ${messageOf(error)}`);
  }
}

const tooDeep = "it is nested too deeply.";

export interface LeanOptions {
  readonly owner: SchemaOwner;
  /** True if "$ref" makes the keywords beside it void, as up to draft 7. */
  readonly isDraft7: boolean;
}

/** Copies the keywords that constrain a value. Throws at a keyword that is malformed or not supported. */
export function leanSchema(schema: Schema, options: LeanOptions): Schema {
  return new Copier(schema, options).copy(schema, { where: "", depth: 0, idDepth: 0 }) as Schema;
}

type Kind =
  | "schema"
  | "schemas"
  | "schema or schemas"
  | "schemas by name"
  | "schemas by pattern"
  | "schemas or names by name"
  | "names by name"
  | "names"
  | "types"
  | "count"
  | "number"
  | "number or flag"
  | "positive"
  | "text"
  | "pattern"
  | "list"
  | "flag"
  | "value"
  | "unsupported";

/** The kind of value of each keyword. Keywords that are not listed constrain nothing. */
const keywordKinds: Readonly<Record<string, Kind>> = {
  $id: "text",
  $anchor: "text",
  $ref: "text",
  $dynamicRef: "unsupported",
  $recursiveRef: "unsupported",
  $defs: "schemas by name",
  definitions: "schemas by name",
  type: "types",
  enum: "list",
  const: "value",
  not: "schema",
  allOf: "schemas",
  anyOf: "schemas",
  oneOf: "schemas",
  if: "schema",
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: "schema",
  else: "schema",
  properties: "schemas by name",
  patternProperties: "schemas by pattern",
  additionalProperties: "schema",
  unevaluatedProperties: "schema",
  propertyNames: "schema",
  required: "names",
  minProperties: "count",
  maxProperties: "count",
  dependentRequired: "names by name",
  dependentSchemas: "schemas by name",
  dependencies: "schemas or names by name",
  items: "schema or schemas",
  prefixItems: "schemas",
  additionalItems: "schema",
  unevaluatedItems: "schema",
  contains: "schema",
  minContains: "count",
  maxContains: "count",
  minItems: "count",
  maxItems: "count",
  uniqueItems: "flag",
  minimum: "number",
  maximum: "number",
  exclusiveMinimum: "number or flag",
  exclusiveMaximum: "number or flag",
  multipleOf: "positive",
  minLength: "count",
  maxLength: "count",
  pattern: "pattern",
};

/** The keywords under which schemas stand. */
export const schemaKeywords: readonly string[] = Object.keys(keywordKinds).filter((keyword) =>
  keywordKinds[keyword]?.startsWith("schema"),
);

/** True if a keyword holds schemas or lists by name or pattern. */
export function isMapKeyword(keyword: string): boolean {
  return Object.hasOwn(keywordKinds, keyword) && keywordKinds[keyword]?.includes(" by ") === true;
}

const typeNames: readonly unknown[] = ["string", "number", "integer", "boolean", "object", "array", "null"];
/** Keywords that hold values, never schemas, even if a definition has the same name. */
const annotations: readonly string[] = ["default", "example", "examples"];
const maxDepth = 128;
const maxOptionalParts = 32;
// The validator visits a schema with an "$id" twice, so nested ones would double its work with every level.
const maxIdDepth = 8;

interface Place {
  readonly where: string;
  readonly depth: number;
  readonly idDepth: number;
}

class Copier {
  readonly #owner: SchemaOwner;
  readonly #isDraft7: boolean;
  readonly #referenced: ReadonlySet<string>;

  constructor(root: Schema, { owner, isDraft7 }: LeanOptions) {
    this.#owner = owner;
    this.#isDraft7 = isDraft7;
    this.#referenced = referencedNames(schemaText(root, owner));
  }

  copy(schema: unknown, place: Place): Schema | boolean {
    if (schema === true) return true;
    // The validator gives a wrong location for `false`, and a right one for this.
    if (schema === false) return { not: {} };
    if (!isObject(schema)) throw this.#wrong(place, "a schema", schema);
    const idDepth = place.idDepth + ("$id" in schema ? 1 : 0);
    if (place.depth > maxDepth || idDepth > maxIdDepth) throw invalidSchema(this.#owner, "", tooDeep);
    const copy: Schema = {};
    for (const [keyword, value] of Object.entries(schema)) {
      // Some serializers write null for a keyword that is not set.
      if (value === null && keyword !== "const") continue;
      const inner = { where: joined(place.where, keyword), depth: place.depth + 1, idDepth };
      const kind = Object.hasOwn(keywordKinds, keyword) ? keywordKinds[keyword] : undefined;
      if (kind !== undefined) copy[keyword] = this.#value(kind, value, inner);
      else if (this.#isReferenced(keyword) && isObject(value)) setField(copy, keyword, this.copy(value, inner));
    }
    if (this.#isDraft7 && copy.$ref !== undefined) delete copy.$id;
    return numericBounds(copy);
  }

  #isReferenced(keyword: string): boolean {
    return this.#referenced.has(keyword) && !annotations.includes(keyword);
  }

  #value(kind: Kind, value: unknown, place: Place): unknown {
    switch (kind) {
      case "schema":
        return this.copy(value, place);
      case "schemas":
        return this.#list(value, place);
      case "schema or schemas":
        return Array.isArray(value) ? this.#list(value, place) : this.copy(value, place);
      case "schemas by name":
      case "schemas by pattern":
      case "schemas or names by name":
      case "names by name":
        return this.#map(kind, value, place);
      case "pattern":
        return this.#pattern(value, place);
      case "types":
        return this.#types(value, place);
      case "unsupported":
        throw invalidSchema(this.#owner, place.where, 'the keyword is not supported; use "$ref".');
      default:
        return this.#plain(kind, value, place);
    }
  }

  #list(value: unknown, place: Place): unknown[] {
    if (!Array.isArray(value)) throw this.#wrong(place, "a list of schemas", value);
    return value.map((each, index) => this.copy(each, { ...place, where: joined(place.where, String(index)) }));
  }

  #map(kind: Kind, value: unknown, place: Place): Schema {
    if (!isObject(value)) throw this.#wrong(place, "an object", value);
    const map: Schema = {};
    const entries = Object.entries(value);
    for (const [name, each] of this.#referenced.size === 0 ? entries : simpleFirst(entries)) {
      const inner = { ...place, where: joined(place.where, name) };
      const key = kind === "schemas by pattern" ? this.#pattern(name, inner) : name;
      const isList = kind === "names by name" || (kind === "schemas or names by name" && Array.isArray(each));
      setField(map, key, isList ? this.#plain("names", each, inner) : this.copy(each, inner));
    }
    return map;
  }

  #pattern(value: unknown, place: Place): string {
    if (typeof value !== "string") throw this.#wrong(place, "text", value);
    const pattern = unicodePattern(value);
    if (pattern === undefined)
      throw invalidSchema(this.#owner, place.where, `${shownValue(value)} is not a regular expression.`);
    if (countOptionalParts(pattern) > maxOptionalParts)
      throw invalidSchema(this.#owner, place.where, `the pattern has more than ${maxOptionalParts} optional parts.`);
    return pattern;
  }

  #types(value: unknown, place: Place): unknown {
    const names: readonly unknown[] = [value].flat();
    const unknown = names.find((name) => !typeNames.includes(name));
    if (names.length > 0 && unknown === undefined) return value;
    throw invalidSchema(
      this.#owner,
      place.where,
      `unknown type ${shownValue(unknown)}. Use ${typeNames.slice(0, -1).join(", ")} or ${typeNames.at(-1)}.`,
    );
  }

  #plain(kind: Kind, value: unknown, place: Place): unknown {
    const rule = plainRules[kind];
    if (rule !== undefined && !rule.isFit(value)) throw this.#wrong(place, rule.words, value);
    return value;
  }

  #wrong(place: Place, words: string, value: unknown): OffstageError {
    return invalidSchema(this.#owner, place.where, `it must be ${words}; found ${shownValue(value)}.`);
  }
}

interface PlainRule {
  readonly isFit: (value: unknown) => boolean;
  readonly words: string;
}

const isNumber = (value: unknown): value is number => typeof value === "number";
const isNames = (value: unknown): boolean => Array.isArray(value) && value.every((each) => typeof each === "string");

const plainRules: Partial<Record<Kind, PlainRule>> = {
  names: { isFit: isNames, words: "a list of names" },
  count: { isFit: (value) => Number.isInteger(value) && (value as number) >= 0, words: "a whole number of at least 0" },
  number: { isFit: isNumber, words: "a number" },
  "number or flag": { isFit: (value) => isNumber(value) || typeof value === "boolean", words: "a number" },
  positive: { isFit: (value) => isNumber(value) && value > 0, words: "a positive number" },
  text: { isFit: (value) => typeof value === "string", words: "text" },
  list: { isFit: Array.isArray, words: "a list" },
  flag: { isFit: (value) => typeof value === "boolean", words: "true or false" },
};

// Draft 4 and OpenAPI 3.0 say `minimum: 3, exclusiveMinimum: true`.
function numericBounds(schema: Schema): Schema {
  for (const [bound, exclusive] of [
    ["minimum", "exclusiveMinimum"],
    ["maximum", "exclusiveMaximum"],
  ] as const) {
    const flag = schema[exclusive];
    if (typeof flag !== "boolean") continue;
    delete schema[exclusive];
    if (!flag || schema[bound] === undefined) continue;
    schema[exclusive] = schema[bound];
    delete schema[bound];
  }
  return schema;
}

// The names on the way of a reference: "#/components/schemas/User" leads through keywords that JSON Schema does not know.
function referencedNames(text: string): ReadonlySet<string> {
  const references = [...text.matchAll(/"\$ref":("(?:[^"\\]|\\.)*")/g)].map(([, found = '""']) =>
    String(JSON.parse(found)),
  );
  return new Set(references.flatMap((reference) => reference.split("/")));
}

// A property that tells several forms apart is checked before those that lead deeper: most forms are then ruled out at once.
function simpleFirst(entries: readonly [string, unknown][]): readonly [string, unknown][] {
  const leadsDeeper = ([, schema]: [string, unknown]) => JSON.stringify(schema).includes('"$ref":');
  return [...entries.filter((entry) => !leadsDeeper(entry)), ...entries.filter(leadsDeeper)];
}

function joined(where: string, name: string): string {
  return where === "" ? name : `${where}.${name}`;
}
