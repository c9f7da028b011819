// Any value as JSON: whatever a tool gives back, one bounded, plain value comes out. Never throws, never loops.

import { isObject, type JsonValue, setField } from "../base/json.ts";
import { keepShape } from "../base/keep-shape.ts";
import { messageOf } from "../errors.ts";
import { utf8Prefix } from "./clip.ts";

const maxDepth = 64;
const maxItems = 10_000;
const clippedMark = "[clipped]";

export interface JsonSafeOptions {
  /** About how many bytes the value may have as JSON; what goes beyond is left out and marked. Default 8 MiB. */
  readonly maxBytes?: number;
}

const defaultMaxBytes = 8 * 1024 * 1024;

/** The value as JSON; what JSON cannot hold becomes a readable stand-in. */
export function jsonSafe(value: unknown, options: JsonSafeOptions = {}): JsonValue {
  const { maxBytes = defaultMaxBytes } = options;
  // A UTF-16 unit takes at most three bytes of UTF-8: a text that surely fits needs no walk.
  if (typeof value === "string" && value.length * 3 <= maxBytes) return value;
  return new Walk(maxBytes).convert(value, 0) ?? null;
}

/** The same for the input of a tool: most of it is a record of a few short texts and numbers, copied without a walk. */
export function jsonInput(value: unknown): JsonValue {
  return flatCopy(value) ?? jsonSafe(value);
}

function flatCopy(value: unknown): JsonValue | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  try {
    if (Object.getPrototypeOf(value) !== Object.prototype) return undefined;
    if ("toJSON" in value || Symbol.iterator in value) return undefined;
    const keys = Object.keys(value);
    if (keys.length > maxFlatFields) return undefined;
    const copy: Record<string, JsonValue> = {};
    // A field called `__proto__` cannot be set like others.
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] as string;
      const field: unknown = (value as Record<string, unknown>)[key];
      if (key === "__proto__" || key.length > maxFlatText || !isFlat(field)) return undefined;
      copy[key] = field;
    }
    return copy;
  } catch {
    return undefined;
  }
}

// So many texts of such a length fit the default budget without counting.
const maxFlatFields = 32;
const maxFlatText = 10_000;

function isFlat(field: unknown): field is string | number | boolean | null {
  if (typeof field === "string") return field.length <= maxFlatText;
  if (typeof field === "number") return Number.isFinite(field) && !Object.is(field, -0);
  return typeof field === "boolean" || field === null;
}

class Walk {
  readonly #path: object[] = [];
  #left: number;

  constructor(maxBytes: number) {
    this.#left = maxBytes;
  }

  get isSpent(): boolean {
    return this.#left <= 0;
  }

  convert(value: unknown, depth: number): JsonValue | undefined {
    if (this.isSpent) return clippedMark;
    switch (typeof value) {
      case "string":
        return this.#text(value);
      case "number":
        return this.#number(value);
      case "boolean":
        this.#left -= 5;
        return value;
      case "undefined":
        return undefined;
      case "bigint":
        return this.#text(value.toString());
      case "object":
        if (value !== null) return this.#guarded(value, depth);
        this.#left -= 4;
        return null;
      default:
        return this.#text(`[${typeof value}]`);
    }
  }

  #text(text: string): string {
    const bytes = Buffer.byteLength(text);
    const kept = bytes > this.#left ? utf8Prefix(text, Math.max(0, this.#left)) + clippedMark : text;
    this.#left -= bytes + 2;
    return kept;
  }

  // JSON knows neither NaN nor infinities nor a negative zero.
  #number(value: number): JsonValue {
    const text = String(value);
    this.#left -= text.length;
    return Number.isFinite(value) ? value + 0 : text;
  }

  #guarded(value: object, depth: number): JsonValue {
    if (this.#path.includes(value)) return this.#text("[circular]");
    if (depth >= maxDepth) return this.#text("[too deep]");
    this.#left -= 2;
    this.#path.push(value);
    try {
      return this.#object(value, depth);
    } catch (error) {
      return this.#unreadable(error);
    } finally {
      this.#path.pop();
    }
  }

  #unreadable(error: unknown): string {
    return this.#text(`[unreadable: ${messageOf(error)}]`);
  }

  #object(value: object, depth: number): JsonValue {
    if (Array.isArray(value)) return this.#list(value, depth);
    if (value instanceof Date) return this.#text(Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString());
    if (value instanceof Error) return this.#record(value, errorKeys(value), depth);
    if (value instanceof Map) return this.#map(value, depth);
    if (value instanceof Promise) return this.#text("[promise]");
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return this.#bytes(value);
    if (value instanceof RegExp || value instanceof URL) return this.#text(String(value));
    const plain = plainOf(value);
    if (plain !== value) return this.convert(plain, depth + 1) ?? null;
    if (Symbol.iterator in value) return this.#list(value as Iterable<unknown>, depth);
    return this.#record(value, Object.keys(value), depth);
  }

  #list(items: Iterable<unknown>, depth: number): JsonValue[] {
    const list: JsonValue[] = [];
    for (const item of items) {
      if (list.length >= maxItems || this.isSpent) {
        list.push(clippedMark);
        break;
      }
      this.#left -= 1;
      list.push(this.convert(item ?? null, depth + 1) ?? null);
    }
    return list;
  }

  // A map whose keys are all text reads as a record, any other as a list of pairs.
  #map(map: ReadonlyMap<unknown, unknown>, depth: number): JsonValue {
    const entries = [...(Map.prototype.entries.call(map) as IterableIterator<[unknown, unknown]>)];
    if (!entries.every(([key]) => typeof key === "string")) return this.#list(entries, depth);
    const record = Object.fromEntries(entries as [string, unknown][]);
    return this.#record(record, Object.keys(record), depth);
  }

  #bytes(value: ArrayBuffer | ArrayBufferView): JsonValue {
    const bytes = ArrayBuffer.isView(value)
      ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
      : new Uint8Array(value);
    const shown = bytes.subarray(0, Math.max(0, Math.floor((this.#left * 3) / 4)));
    return { bytes: bytes.length, base64: this.#text(Buffer.from(shown).toString("base64")) };
  }

  #record(value: object, keys: readonly string[], depth: number): JsonValue {
    const record: Record<string, JsonValue> = {};
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index] as string;
      this.#left -= Buffer.byteLength(key) + 4;
      if (this.isSpent) {
        record[clippedMark] = `${keys.length - index} more`;
        break;
      }
      const item = this.#property(value, key, depth);
      if (item === undefined) continue;
      setField(record, key, item);
    }
    return record;
  }

  #property(value: object, key: string, depth: number): JsonValue | undefined {
    let item: unknown;
    try {
      item = (value as Record<string, unknown>)[key];
    } catch (error) {
      return this.#unreadable(error);
    }
    return typeof item === "function" ? undefined : this.convert(item, depth + 1);
  }
}

keepShape(new Walk(0));

function errorKeys(error: Error): string[] {
  return [...new Set(["name", "message", ...("cause" in error ? ["cause"] : []), ...Object.keys(error)])];
}

// What an object says it is as JSON, or the primitive it wraps; itself where it says nothing else.
function plainOf(value: object): unknown {
  if (value instanceof String || value instanceof Number || value instanceof Boolean) return value.valueOf();
  const { toJSON } = value as { toJSON?: unknown };
  return typeof toJSON === "function" ? toJSON.call(value) : value;
}

/** True for something that gives its items over time. */
export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return isObject(value) && typeof (value as Partial<AsyncIterable<unknown>>)[Symbol.asyncIterator] === "function";
}

export interface CollectOptions extends JsonSafeOptions {
  /** Asked at each item: nobody waits for the rest once it is aborted. */
  readonly cancellation?: { readonly isAborted: boolean };
}

/** The items of an async iterable as JSON, as many as a list and the budget hold; no more are asked for. */
export async function collect(source: AsyncIterable<unknown>, options: CollectOptions = {}): Promise<JsonValue[]> {
  const { maxBytes = defaultMaxBytes, cancellation } = options;
  const walk = new Walk(maxBytes);
  const items: JsonValue[] = [];
  for await (const item of source) {
    if (items.length >= maxItems || walk.isSpent || cancellation?.isAborted) {
      items.push(clippedMark);
      break;
    }
    items.push(walk.convert(item ?? null, 1) ?? null);
  }
  return items;
}
