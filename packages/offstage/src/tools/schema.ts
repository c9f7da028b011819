// Schemas of tool input and structured output: any Standard Schema, or JSON Schema as it is. Compiling one gives the JSON
// Schema that the model is shown, and the check that its input or answer must pass.
import { Cancellation } from "../base/cancellation.ts";
import { isObject } from "../base/json.ts";
import { messageOf, OffstageError } from "../errors.ts";
import { type Checked, jsonSchemaCheck } from "./json-schema/compile-json-schema.ts";
import { type SchemaOwner, schemaText } from "./json-schema/lean-schema.ts";

export type { Checked, SchemaOwner };

export type JsonSchema = { [key: string]: unknown };

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] };

/** The part of the Standard Schema specification that we use. Schemas of zod 4, arktype and valibot have it. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** A Standard JSON Schema without a check, such as effect's `toStandardJSONSchemaV1`. It is checked as JSON Schema. */
export interface DescribedSchema<Input = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate?: never;
    readonly jsonSchema: { readonly input: (options: { readonly target: string }) => Record<string, unknown> };
    readonly types?: { readonly input: Input; readonly output: unknown } | undefined;
  };
}

/** JSON Schema with a check of your own. Without `validate` it is checked as JSON Schema. */
export interface RawSchema<Output = unknown> {
  readonly jsonSchema: JsonSchema;
  /** Returns the value to use, or a promise of it; throws to say what is wrong. */
  readonly validate?: ((value: unknown) => Output | Promise<Output>) | undefined;
}

/** JSON Schema as it is, draft 7 or 2020-12. */
interface BareSchema {
  readonly [key: string]: unknown;
  readonly jsonSchema?: never;
  readonly validate?: never;
}

/** A schema that tells the type of its values. */
export type TypedSchema<Output> =
  | StandardSchema<unknown, Output>
  | DescribedSchema<Output>
  | (RawSchema<Output> & { readonly validate: (value: unknown) => Output | Promise<Output> });

export type AnySchema<Output = unknown> =
  | StandardSchema<unknown, Output>
  | DescribedSchema
  | RawSchema<Output>
  | BareSchema;

/** The type of the values that pass a schema. */
export type OutputOf<Schema> =
  Schema extends StandardSchema<infer _, infer Output>
    ? Output
    : Schema extends DescribedSchema<infer Input>
      ? Input
      : Schema extends { readonly validate: (value: unknown) => infer Output }
        ? Awaited<Output>
        : // biome-ignore lint/suspicious/noExplicitAny: a bare JSON Schema says nothing at compile time
          any;

export interface CompiledSchema {
  readonly jsonSchema: JsonSchema;
  /** An error that a check of your own throws is a problem. Rejects only if the run is aborted meanwhile. */
  check(value: unknown, cancellation?: Cancellation): Promise<Checked>;
}

/** Compiles a schema. Throws with the owner's code if it is none, cannot describe itself, or cannot be checked. */
export function compileSchema(schema: unknown, owner: SchemaOwner): CompiledSchema {
  if (isStandard(schema)) return compileStandard(schema, owner);
  if (isObject(schema) && isObject(schema.jsonSchema)) return compileRaw(schema as unknown as RawSchema, owner);
  if (isObject(schema) && looksLikeJsonSchema(schema)) return compileRaw({ jsonSchema: schema }, owner);
  throw new OffstageError(
    owner.code,
    `The schema of ${owner.name} is neither a Standard Schema (zod 4, arktype, valibot) nor JSON Schema. Pass one, or { jsonSchema, validate }.`,
  );
}

type Standard = (StandardSchema | DescribedSchema)["~standard"];

// A schema of arktype or effect is a function.
function isStandard(schema: unknown): schema is { readonly "~standard": Standard } {
  return ((typeof schema === "object" && schema !== null) || typeof schema === "function") && "~standard" in schema;
}

function looksLikeJsonSchema(schema: JsonSchema): boolean {
  return (
    Object.keys(schema).length === 0 ||
    ["type", "properties", "anyOf", "oneOf", "allOf", "$ref", "enum", "const"].some((key) => key in schema)
  );
}

function compileStandard(schema: { readonly "~standard": Standard }, owner: SchemaOwner): CompiledSchema {
  const standard = schema["~standard"];
  const jsonSchema = describe(standard, owner);
  const { validate } = standard;
  if (typeof validate !== "function") return compileRaw({ jsonSchema }, owner);
  return { jsonSchema, check: checking(async (value) => checkedOf(await validate(value))) };
}

function describe(standard: Standard, owner: SchemaOwner): JsonSchema {
  const { jsonSchema: maker, vendor } = standard as Partial<DescribedSchema["~standard"]>;
  if (typeof maker?.input !== "function") {
    throw new OffstageError(
      owner.code,
      `The ${vendor} schema of ${owner.name} cannot describe itself as JSON Schema. ${adviceFor(vendor)}`,
    );
  }
  try {
    const { $schema: _, ...jsonSchema } = maker.input({ target: "draft-07" });
    return jsonSchema;
  } catch (cause) {
    const sentence = `The schema of ${owner.name} has no JSON Schema form: ${messageOf(cause)}`;
    throw new OffstageError(owner.code, sentence, { cause });
  }
}

function adviceFor(vendor: string | undefined): string {
  if (vendor === "zod")
    return "Update to zod 4.2 or newer, or pass { jsonSchema: z.toJSONSchema(schema), validate: (value) => schema.parse(value) }.";
  if (vendor === "valibot") return "Wrap it in toStandardJsonSchema() of @valibot/to-json-schema.";
  return "Pass { jsonSchema, validate } instead.";
}

function checkedOf(result: SchemaResult<unknown>): Checked {
  return result.issues === undefined ? { value: result.value } : { problems: result.issues.map(problemOf) };
}

function problemOf({ path = [], message }: Issue): string {
  const place = path.map((item) => String(typeof item === "object" ? item.key : item)).join(".");
  return place === "" ? message : `${place}: ${message}`;
}

function compileRaw({ jsonSchema: given, validate }: RawSchema, owner: SchemaOwner): CompiledSchema {
  // A copy, so that the model is always shown the schema that is checked.
  const jsonSchema = JSON.parse(schemaText(given, owner)) as JsonSchema;
  if (validate !== undefined)
    return { jsonSchema, check: checking(async (value) => ({ value: await validate(value) })) };
  return { jsonSchema, check: jsonSchemaCheck(jsonSchema, owner) };
}

// An abort does not wait for a check that is not ours.
function checking(check: (value: unknown) => Promise<Checked>): CompiledSchema["check"] {
  return async (value, cancellation = new Cancellation()) => {
    try {
      return await cancellation.race(check(value));
    } catch (error) {
      cancellation.signal.throwIfAborted();
      return { problems: [messageOf(error)] };
    }
  };
}
