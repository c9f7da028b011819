// Answers to questions of tools: what a person typed, as the value that the question's schema wants.
import { isObject, type JsonObject, type JsonValue, parseJson } from "../../base/json.ts";

/** The value of what was typed. A schema with one field takes that field alone. */
export function answerFrom(text: string, schema: JsonObject | undefined): JsonValue {
  const field = onlyField(schema);
  if (field === undefined) return typedValue(text.trim(), schema);
  const parsed = parseJson(text);
  if (isObject(parsed)) return parsed as JsonValue;
  return { [field.name]: typedValue(text.trim(), field.schema) };
}

/** Tells the person the values that may be typed; "" if any may. */
export function answerHint(schema: JsonObject | undefined): string {
  const field = onlyField(schema);
  const about = field?.schema ?? schema;
  const choices = choicesOf(about);
  const name = field === undefined ? "" : `${field.name}: `;
  if (choices.length > 0) return `${name}${choices.map((choice) => String(choice)).join(", ")}`;
  if (about?.type === "boolean") return `${name}yes or no`;
  if (about?.type === "object") return `JSON: ${JSON.stringify(about.properties ?? {})}`;
  return typeof about?.type === "string" && about.type !== "string" ? `${name}${about.type}` : name.replace(/: $/, "");
}

function onlyField(schema: JsonObject | undefined): { readonly name: string; readonly schema: JsonObject } | undefined {
  const fields = isObject(schema?.properties) ? Object.entries(schema.properties) : [];
  const [only, ...others] = fields;
  if (only === undefined || others.length > 0) return undefined;
  const [name, own] = only;
  return { name, schema: isObject(own) ? (own as JsonObject) : {} };
}

function choicesOf(schema: JsonObject | undefined): readonly JsonValue[] {
  return Array.isArray(schema?.enum) ? schema.enum : [];
}

function typedValue(text: string, schema: JsonObject | undefined): JsonValue {
  const choices = choicesOf(schema);
  const chosen = choices.filter((choice) => String(choice).toLowerCase().startsWith(text.toLowerCase()));
  if (text !== "" && chosen.length === 1) return chosen[0] as JsonValue;
  if (schema?.type === "string") return text;
  if (schema?.type === "boolean" && /^(y|yes|n|no)$/i.test(text)) return /^y/i.test(text);
  return parseJson(text) ?? text;
}
