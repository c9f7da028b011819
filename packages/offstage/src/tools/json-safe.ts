// Any value as JSON: whatever a tool returns becomes one bounded, plain value. Never throws, never loops. Text is
// clipped by bytes, between code points, with a mark that says how much is missing.
import type { JsonValue } from "../base/json.ts";
import { messageOf } from "../errors.ts";

const maxDepth = 64;
const maxItems = 10_000;
const clippedMark = "[clipped]";

export interface JsonSafeOptions {
  /** About how many bytes of JSON are kept; the rest is left out and marked. Default 8 MiB. */
  readonly maxBytes?: number | undefined;
}

const defaultMaxBytes = 8 * 1024 * 1024;

/** The value as JSON. Anything JSON cannot hold becomes a readable text. */
export function jsonSafe(value: unknown, { maxBytes = defaultMaxBytes }: JsonSafeOptions = {}): JsonValue {
  return new Walk(maxBytes).convert(value, 0) ?? null;
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

  // JSON has no NaN, no infinities and no negative zero.
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

  // A map becomes a record if all its keys are text, otherwise a list of pairs.
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
    const entries: [string, JsonValue][] = [];
    for (const key of keys) {
      this.#left -= Buffer.byteLength(key) + 4;
      if (this.isSpent) {
        entries.push([clippedMark, `${keys.length - keys.indexOf(key)} more`]);
        break;
      }
      const item = this.#property(value, key, depth);
      if (item !== undefined) entries.push([key, item]);
    }
    return Object.fromEntries(entries);
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

function errorKeys(error: Error): string[] {
  return [...new Set(["name", "message", ...("cause" in error ? ["cause"] : []), ...Object.keys(error)])];
}

// The result of `toJSON`, or the primitive that an object wraps; otherwise the object itself.
function plainOf(value: object): unknown {
  if (value instanceof String || value instanceof Number || value instanceof Boolean) return value.valueOf();
  const { toJSON } = value as { toJSON?: unknown };
  return typeof toJSON === "function" ? toJSON.call(value) : value;
}

/** True for a value that gives its items over time, such as a stream. */
export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof (value as Partial<AsyncIterable<unknown>> | null | undefined)?.[Symbol.asyncIterator] === "function";
}

export interface CollectOptions extends JsonSafeOptions {
  /** Read at each item: after an abort no more items are taken. */
  readonly signal?: AbortSignal | undefined;
}

/** The items of an async iterable as JSON. Stops taking items when the list is full or the budget is spent. */
export async function collect(source: AsyncIterable<unknown>, options: CollectOptions = {}): Promise<JsonValue[]> {
  const { maxBytes = defaultMaxBytes, signal } = options;
  const walk = new Walk(maxBytes);
  const items: JsonValue[] = [];
  for await (const item of source) {
    if (items.length >= maxItems || walk.isSpent || signal?.aborted) {
      items.push(clippedMark);
      break;
    }
    items.push(walk.convert(item ?? null, 1) ?? null);
  }
  return items;
}

export interface Clipped {
  readonly text: string;
  /** How many bytes of the original are not in the text. */
  readonly clippedBytes: number;
}

/** The text in at most `maxBytes` of UTF-8, including the mark. A budget too small for the mark leaves the mark out. */
export function clip(text: string, maxBytes: number): Clipped {
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxBytes) return { text, clippedBytes: 0 };
  const room = maxBytes - markOf(bytes).length;
  const kept = utf8Prefix(text, room < 0 ? maxBytes : room);
  const clippedBytes = bytes - Buffer.byteLength(kept);
  return { text: room < 0 ? kept : kept + markOf(clippedBytes), clippedBytes };
}

function markOf(bytes: number): string {
  return `\n[clipped, ${bytes} bytes]`;
}

/** The longest prefix of a text that takes at most `maxBytes` of UTF-8. A lone surrogate in it becomes U+FFFD. */
export function utf8Prefix(text: string, maxBytes: number): string {
  // A UTF-16 unit takes at least one byte, so only the first `maxBytes` units can be part of it.
  const bytes = Buffer.from(text.slice(0, maxBytes));
  let end = Math.min(Math.trunc(maxBytes), bytes.length);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end);
}
