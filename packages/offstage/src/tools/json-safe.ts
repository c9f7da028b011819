// Any value as JSON: whatever a tool gives back, one bounded, plain value comes out. Never throws, never loops.
import { messageOf } from "../errors.ts";
import { isObject, type JsonValue } from "../messages/json.ts";

const maxDepth = 64;
const maxItems = 10_000;

export interface JsonSafeOptions {
  /** About how many bytes the value may have as JSON; what goes beyond is left out and marked. Default 8 MiB. */
  readonly maxBytes?: number;
}

/** The value as JSON; what JSON cannot hold becomes a readable stand-in. */
export function jsonSafe(value: unknown, options: JsonSafeOptions = {}): JsonValue {
  const { maxBytes = 8 * 1024 * 1024 } = options;
  return new Walk(maxBytes).convert(value, 0) ?? null;
}

class Walk {
  readonly #path = new Set<object>();
  #left: number;

  constructor(maxBytes: number) {
    this.#left = maxBytes;
  }

  convert(value: unknown, depth: number): JsonValue | undefined {
    if (this.#left <= 0) return "[clipped]";
    switch (typeof value) {
      case "string":
        return this.#text(value);
      case "number":
        this.#left -= 8;
        return Number.isFinite(value) ? value : String(value);
      case "boolean":
        this.#left -= 5;
        return value;
      case "undefined":
        return undefined;
      case "bigint":
        return this.#text(value.toString());
      case "object":
        return value === null ? null : this.#guarded(value, depth);
      default:
        return `[${typeof value}]`;
    }
  }

  #text(text: string): string {
    const kept = text.length > this.#left ? `${text.slice(0, this.#left)}[clipped]` : text;
    this.#left -= text.length + 2;
    return kept;
  }

  #guarded(value: object, depth: number): JsonValue {
    if (this.#path.has(value)) return "[circular]";
    if (depth >= maxDepth) return "[too deep]";
    this.#path.add(value);
    try {
      return this.#object(value, depth);
    } catch (error) {
      return `[unreadable: ${messageOf(error)}]`;
    } finally {
      this.#path.delete(value);
    }
  }

  #object(value: object, depth: number): JsonValue {
    if (Array.isArray(value)) return this.#list(value, depth);
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
    if (value instanceof Error) return this.#record({ ...value, name: value.name, message: value.message }, depth);
    if (value instanceof Map) return this.#map(value, depth);
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return this.#bytes(value);
    if (value instanceof RegExp || value instanceof URL) return String(value);
    const { toJSON } = value as { toJSON?: unknown };
    if (typeof toJSON === "function") return this.convert(toJSON.call(value), depth + 1) ?? null;
    if (Symbol.iterator in value) return this.#list(value as Iterable<unknown>, depth);
    return this.#record(value, depth);
  }

  #list(items: Iterable<unknown>, depth: number): JsonValue[] {
    const list: JsonValue[] = [];
    for (const item of items) {
      if (list.length >= maxItems || this.#left <= 0) {
        list.push("[clipped]");
        break;
      }
      this.#left -= 1;
      list.push(this.convert(item, depth + 1) ?? null);
    }
    return list;
  }

  #map(map: ReadonlyMap<unknown, unknown>, depth: number): JsonValue {
    const isRecord = [...map.keys()].every((key) => typeof key === "string");
    return isRecord ? this.#record(Object.fromEntries(map), depth) : this.#list(map.entries(), depth);
  }

  #bytes(value: ArrayBuffer | ArrayBufferView): JsonValue {
    const bytes = ArrayBuffer.isView(value)
      ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
      : new Uint8Array(value);
    const shown = bytes.subarray(0, Math.max(0, Math.floor((this.#left * 3) / 4)));
    return { bytes: bytes.length, base64: this.#text(Buffer.from(shown).toString("base64")) };
  }

  #record(value: object, depth: number): JsonValue {
    const record: Record<string, JsonValue> = {};
    for (const key of Object.keys(value)) {
      if (this.#left <= 0) break;
      const item = this.#property(value, key, depth);
      this.#left -= key.length + 4;
      if (item === undefined) continue;
      if (key === "__proto__")
        Object.defineProperty(record, key, { value: item, enumerable: true, configurable: true, writable: true });
      else record[key] = item;
    }
    return record;
  }

  #property(value: object, key: string, depth: number): JsonValue | undefined {
    let item: unknown;
    try {
      item = (value as Record<string, unknown>)[key];
    } catch (error) {
      return `[unreadable: ${messageOf(error)}]`;
    }
    return typeof item === "function" ? undefined : this.convert(item, depth + 1);
  }
}

/** True for something that gives its items over time. */
export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return isObject(value) && typeof (value as Partial<AsyncIterable<unknown>>)[Symbol.asyncIterator] === "function";
}

/** The items of an async iterable, as many as a list may have. */
export async function collect(source: AsyncIterable<unknown>): Promise<unknown[]> {
  const items: unknown[] = [];
  for await (const item of source) {
    items.push(item);
    if (items.length >= maxItems) break;
  }
  return items;
}
