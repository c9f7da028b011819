// Definitions of a server's tools, which are untrusted text in every prompt: bounded, without control characters, and with a check
// of the input that no pattern can make slow.
import { replaceActive } from "../../base/inert.ts";
import { isObject, type JsonObject, setField } from "../../base/json.ts";
import { compileJsonSchema } from "../../tools/json-schema/compile-json-schema.ts";
import { isMapKeyword, type Schema, type SchemaOwner, schemaKeywords } from "../../tools/json-schema/lean-schema.ts";
import type { RawSchema } from "../../tools/schema.ts";

// The most that the definitions of a server may add to a prompt: the texts share a budget, and so do the schemas.
const maxDescription = 4000;
const descriptionBudget = 128 * 1024;
const minDescription = 200;
const maxSchemaBytes = 64 * 1024;
const schemaBudget = 1024 * 1024;
const maxTools = 2000;
const maxSchemaText = 1000;

/** A text of a server for a prompt: without control and invisible characters, and cut. */
export function promptText(text: string, maxLength: number): string {
  // Cut first: a text of megabytes is not read to its end.
  const clean = replaceActive(text.slice(0, maxLength * 2), () => "");
  const isCut = clean.length > maxLength || text.length > maxLength * 2;
  return isCut ? `${clean.slice(0, maxLength).replace(/\p{Surrogate}$/u, "")} [cut]` : clean;
}

/** A tool as its server describes it. */
export interface ListedTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject | undefined;
  readonly annotations?: JsonObject | undefined;
}

/** A tool as the model is shown it. */
export interface Definition {
  readonly description: string;
  readonly schema: RawSchema;
}

export interface BoundedDefinitions {
  readonly definitions: ReadonlyMap<string, Definition>;
  /** Why tools were left out, one sentence each. */
  readonly problems: readonly string[];
}

/** The definitions of a server within their bounds. `shown` names a tool in a problem. */
export function boundDefinitions(tools: readonly ListedTool[], shown: (name: string) => string): BoundedDefinitions {
  const definitions = new Map<string, Definition>();
  const problems: string[] = [];
  const count = Math.min(tools.length, maxTools);
  const length = Math.min(maxDescription, Math.max(minDescription, Math.floor(descriptionBudget / Math.max(1, count))));
  let left = schemaBudget;
  for (const listed of tools.slice(0, maxTools)) {
    const jsonSchema = shownSchema(listed.inputSchema);
    const bytes = sizeOf(jsonSchema);
    if (jsonSchema === undefined || bytes > maxSchemaBytes || bytes > left) {
      const limit = bytes > maxSchemaBytes ? maxSchemaBytes : schemaBudget;
      const why =
        jsonSchema === undefined ? "is not the schema of an object" : `has a schema that takes it over ${limit} bytes`;
      problems.push(`The tool ${shown(listed.name)} is left out: its input ${why}.`);
      continue;
    }
    left -= bytes;
    const description = promptText(listed.description ?? listed.title ?? "", length);
    definitions.set(listed.name, { description, schema: { jsonSchema, validate: checkOf(jsonSchema) } });
  }
  if (tools.length > maxTools) problems.push(`Only the first ${maxTools} of ${tools.length} tools are used.`);
  return { definitions, problems };
}

function sizeOf(schema: object | undefined): number {
  try {
    return Buffer.byteLength(JSON.stringify(schema) ?? "");
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

// Descriptions inside of a schema are prompt text too.
function shownSchema(schema: unknown): Schema | undefined {
  if (!isObject(schema) || (schema.type !== undefined && schema.type !== "object")) return undefined;
  return rewrite(schema, 0, ({ $comment: _, title, description, ...rest }) => ({
    ...(typeof title === "string" && { title: promptText(title, maxSchemaText) }),
    ...(typeof description === "string" && { description: promptText(description, maxSchemaText) }),
    ...rest,
  })) as Schema;
}

const maxDepth = 100;

// A copy in which `edit` changed every schema. Deeper ones become schemas that accept everything.
function rewrite(schema: unknown, depth: number, edit: (schema: Schema) => Schema): unknown {
  if (Array.isArray(schema)) return schema.map((each) => rewrite(each, depth + 1, edit));
  if (!isObject(schema)) return schema;
  const copy: Schema = {};
  if (depth > maxDepth) return copy;
  for (const [keyword, held] of Object.entries(edit(schema))) {
    const isMap = isMapKeyword(keyword) && isObject(held);
    if (isMap) copy[keyword] = mapValues(held, (each) => rewrite(each, depth + 1, edit));
    else setField(copy, keyword, schemaKeywords.includes(keyword) ? rewrite(held, depth + 1, edit) : held);
  }
  return copy;
}

function mapValues(record: Schema, change: (value: unknown) => unknown): Schema {
  const copy: Schema = {};
  for (const [name, value] of Object.entries(record)) setField(copy, name, change(value));
  return copy;
}

// The part of a schema that can be checked here. Properties that only a removed pattern allows must not be refused. A property that has a default
// is filled in by the server, even if many libraries list it as required.
function checkable(schema: Schema): Schema {
  return rewrite(schema, 0, ({ pattern: _, patternProperties, required, ...rest }) => {
    const needed = Array.isArray(required) && {
      required: required.filter((name) => !hasDefault(rest.properties, name)),
    };
    if (patternProperties === undefined) return { ...rest, ...needed };
    const { additionalProperties: _additional, unevaluatedProperties: _unevaluated, ...open } = rest;
    return { ...open, ...needed };
  }) as Schema;
}

function hasDefault(properties: unknown, name: unknown): boolean {
  const property = isObject(properties) && typeof name === "string" ? properties[name] : undefined;
  return isObject(property) && property.default !== undefined;
}

/** The schema of an answer that a server asks for, as a person fills it in; undefined if it cannot be checked. */
export function formSchema(schema: unknown): Schema | undefined {
  const shown = shownSchema(schema);
  if (shown === undefined) return undefined;
  const form = checkable(shown);
  try {
    compileJsonSchema(form, owner);
    return form;
  } catch {
    return undefined;
  }
}

const owner: SchemaOwner = { name: "a tool of an MCP server", code: "invalid-tool" };

function checkOf(schema: Schema): (value: unknown) => unknown {
  const problemsIn = checkerOf(schema);
  return (value) => {
    const problems = problemsIn(value);
    if (problems.length > 0) throw new Error(problems.join("\n- "));
    return value;
  };
}

/**
 * The check of a server's schema without its patterns: an unbounded pattern on a model's text can hang the process, and the server
 * checks it. A schema that cannot be compiled is checked by its server only.
 */
export function checkerOf(schema: Schema): (value: unknown) => readonly string[] {
  try {
    return compileJsonSchema(checkable(schema), owner);
  } catch {
    return () => [];
  }
}
