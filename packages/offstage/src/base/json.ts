// JSON types and parsing. Everything that Offstage stores has these types and survives `JSON.parse(JSON.stringify(x))`.

export type JsonPrimitive = string | number | boolean | null;
export type JsonValue = JsonPrimitive | JsonObject | readonly JsonValue[];
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

/** True for an object that is neither null nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Sets a field of any name. Assigning to `__proto__` would set the prototype instead. */
export function setField(record: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") record[key] = value;
  else Object.defineProperty(record, key, { value, enumerable: true, writable: true, configurable: true });
}

/** The parsed value, or undefined if the text is not JSON. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** The parsed value of a text; undefined for null. Throws if it is not JSON, or not what `isFit` accepts. Default: any JSON. */
export function readJson<T = JsonValue>(text: string | null, isFit?: (value: unknown) => value is T): T | undefined {
  if (text === null) return undefined;
  const value: unknown = parseJson(text);
  if (value === undefined || isFit?.(value) === false) throw otherForm();
  return value as T;
}

/** A deep-frozen copy of a value, as `JSON.stringify` and `JSON.parse` make it. */
export function frozenCopy<T>(value: T): T {
  return deepFreeze(JSON.parse(JSON.stringify(value)) as T);
}

/** Deep-freezes a value and returns it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const field of Object.values(value)) deepFreeze(field);
  return value;
}

/** The error for a value of an unexpected form. */
export function otherForm(): Error {
  return new Error("it has an unexpected form");
}

// `JSON.stringify` of a prompt with deeper values may overflow the stack.
const maxDepth = 512;

/** The parsed arguments of a tool call, or undefined if they are not JSON or nested too deeply to be sent. */
export function parseArguments(text: string): JsonValue | undefined {
  return text.length > maxDepth * 2 && isTooDeep(text) ? undefined : parseJson(text);
}

function isTooDeep(text: string): boolean {
  let depth = 0;
  let inText = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === quote) inText = !inText;
    else if (inText) index += code === backslash ? 1 : 0;
    else if ((code | bracketOrBrace) === opening) depth++;
    else if ((code | bracketOrBrace) === closing) depth--;
    if (depth > maxDepth) return true;
  }
  return false;
}

const [quote, backslash, opening, closing] = [0x22, 0x5c, 0x7b, 0x7d];
// The bit in which a bracket differs from a brace.
const bracketOrBrace = 0x20;
