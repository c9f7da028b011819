// Schemas of tool input and structured output: any Standard Schema, or JSON Schema as it is. Two things of each: the
// JSON Schema the model is shown, and the check that its words must pass.

import { isObject } from "../base/json.ts";
import { isThenable } from "../base/thenable.ts";
import { messageOf, OffstageError } from "../errors.ts";
import { flatFit } from "./flat-fit.ts";
import { checkJsonSchema, unknownType } from "./json-schema.ts";

export type JsonSchema = { [key: string]: unknown };

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] };

/** The part of the Standard Schema specification that we use. zod 4, arktype and valibot schemas are such. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** JSON Schema with a check of your own; ours covers the common keywords. */
export interface RawSchema<Output = unknown> {
  readonly jsonSchema: JsonSchema;
  /** Gives the value to use, or throws saying what is wrong; also by a promise. */
  readonly validate?: (value: unknown) => Output | Promise<Output>;
}

/** JSON Schema as it is; our own check covers the common keywords. */
interface BareSchema {
  readonly [key: string]: unknown;
  readonly jsonSchema?: never;
  readonly validate?: never;
}

export type AnySchema<Output = unknown> = StandardSchema<unknown, Output> | RawSchema<Output> | BareSchema;

/** What a schema accepts, as a type. */
export type OutputOf<Schema> =
  Schema extends StandardSchema<infer _, infer Output>
    ? Output
    : Schema extends { readonly validate: (value: unknown) => infer Output }
      ? Awaited<Output>
      : // biome-ignore lint/suspicious/noExplicitAny: a bare JSON Schema says nothing at compile time
        any;

/** The value to use, or what is wrong with the one that was given. */
export type Checked = { readonly value: unknown } | { readonly problems: readonly string[] };

export interface CompiledSchema {
  readonly jsonSchema: JsonSchema;
  /** Never throws: a check that does has found a problem. */
  check(value: unknown): Checked | Promise<Checked>;
}

/** The two things of a schema; throws `invalid-tool` where it cannot give them. `owner` is how an error calls it. */
export function compileSchema(schema: unknown, owner: string): CompiledSchema {
  if (isStandard(schema)) return compileStandard(schema, owner);
  if (isObject(schema) && isObject(schema.jsonSchema)) return compileRaw(schema as unknown as RawSchema, owner);
  if (isObject(schema) && looksLikeJsonSchema(schema)) return compileRaw({ jsonSchema: schema }, owner);
  throw new OffstageError(
    "invalid-tool",
    `The schema of ${owner} is neither a Standard Schema (zod 4, arktype, valibot) nor JSON Schema. Pass one, or { jsonSchema, validate }.`,
  );
}

// arktype's schemas are functions.
function isStandard(schema: unknown): schema is StandardSchema {
  return ((typeof schema === "object" && schema !== null) || typeof schema === "function") && "~standard" in schema;
}

function looksLikeJsonSchema(schema: JsonSchema): boolean {
  return (
    Object.keys(schema).length === 0 ||
    ["type", "properties", "anyOf", "oneOf", "allOf", "$ref", "enum", "const"].some((key) => key in schema)
  );
}

function compileStandard(schema: StandardSchema, owner: string): CompiledSchema {
  const standard = schema["~standard"];
  return {
    jsonSchema: jsonSchemaOf(standard as { jsonSchema?: unknown; vendor: string }, owner),
    check(value) {
      try {
        const result = standard.validate(value);
        return isThenable(result) ? Promise.resolve(result).then(checkedOf).catch(refused) : checkedOf(result);
      } catch (error) {
        return refused(error);
      }
    },
  };
}

function jsonSchemaOf(standard: { jsonSchema?: unknown; vendor: string }, owner: string): JsonSchema {
  const maker = standard.jsonSchema as { input?: (options: { target: string }) => JsonSchema } | undefined;
  if (typeof maker?.input !== "function") {
    throw new OffstageError(
      "invalid-tool",
      `The ${standard.vendor} schema of ${owner} cannot describe itself as JSON Schema. ${adviceFor(standard.vendor)}`,
    );
  }
  try {
    const { $schema: _, ...jsonSchema } = maker.input({ target: "draft-07" });
    return jsonSchema;
  } catch (cause) {
    throw new OffstageError("invalid-tool", `The schema of ${owner} has no JSON Schema form: ${messageOf(cause)}`, {
      cause,
    });
  }
}

function checkedOf(result: SchemaResult<unknown>): Checked {
  return result.issues === undefined ? { value: result.value } : { problems: result.issues.map(problemOf) };
}

function problemOf({ path = [], message }: Issue): string {
  const place = path.map((item) => String(typeof item === "object" ? item.key : item)).join(".");
  return place === "" ? message : `${place}: ${message}`;
}

// Every call would be refused, and nobody would know why.
function checkTypeNames(jsonSchema: JsonSchema, owner: string): void {
  const type = unknownType(jsonSchema);
  if (type === undefined) return;
  throw new OffstageError(
    "invalid-tool",
    `The schema of ${owner} has the type "${type}", which no JSON value has. Use string, number, integer, boolean, object, array or null.`,
  );
}

function compileRaw({ jsonSchema: given, validate }: RawSchema, owner: string): CompiledSchema {
  const jsonSchema = ownCopy(given);
  if (validate === undefined) {
    checkTypeNames(jsonSchema, owner);
    const surelyFits = flatFit(jsonSchema);
    return {
      jsonSchema,
      check: (value) => (surelyFits?.(value) ? { value } : checkedBy(checkJsonSchema(jsonSchema, value), value)),
    };
  }
  return {
    jsonSchema,
    check(value) {
      try {
        const valid: unknown = validate(value);
        return isThenable(valid) ? Promise.resolve(valid).then(accepted, refused) : { value: valid };
      } catch (error) {
        return refused(error);
      }
    },
  };
}

// What the model is shown is what is checked, whatever becomes of the object that was given. One that is no JSON stays as it is.
function ownCopy(schema: JsonSchema): JsonSchema {
  try {
    return JSON.parse(JSON.stringify(schema)) as JsonSchema;
  } catch {
    return schema;
  }
}

function accepted(value: unknown): Checked {
  return { value };
}

function refused(error: unknown): Checked {
  return { problems: [messageOf(error)] };
}

function checkedBy(problems: readonly string[], value: unknown): Checked {
  return problems.length === 0 ? { value } : { problems };
}

// zod has it since 4.2, and zod/mini not at all; both can make it by a function of their own.
function adviceFor(vendor: string): string {
  if (vendor === "zod") {
    return "Update to zod 4.2 or newer, or pass { jsonSchema: z.toJSONSchema(schema), validate: (value) => schema.parse(value) }.";
  }
  if (vendor === "valibot") return "Wrap it in toStandardJsonSchema() of @valibot/to-json-schema.";
  return "Pass { jsonSchema, validate } instead.";
}
