// Copies of JSON values: a checked copy for storing, and a deep-frozen one for sharing.

import { setField } from "../../base/json.ts";
import { OffstageError } from "../../errors.ts";

const deepest = 500;

/** Copies a value without undefined fields; throws `invalid-message`, naming the path, for a value that is not JSON. */
export function plainCopy<T>(value: T, name: string): T {
  return copy(value, name, 0) as T;
}

function copy(value: unknown, name: string, depth: number): unknown {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (typeof value !== "object") throw notJson(name, `found ${typeof value} ${String(value)}`);
  if (depth > deepest) throw notJson(name, "it is circular or too deep");
  if (Array.isArray(value)) return value.map((item, index) => copy(item ?? null, `${name}[${index}]`, depth + 1));
  if (!isPlain(value)) throw notJson(name, `found an instance of ${value.constructor?.name ?? "a class"}`);
  return copyFields(value, name, depth);
}

function copyFields(value: object, name: string, depth: number): object {
  const fresh: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(value)) {
    if (field === undefined) continue;
    setField(fresh, key, copy(field, `${name}.${key}`, depth + 1));
  }
  return fresh;
}

function isPlain(value: object): boolean {
  const proto: unknown = Object.getPrototypeOf(value);
  return proto === null || proto === Object.prototype || Object.getPrototypeOf(proto) === null;
}

function notJson(name: string, why: string): OffstageError {
  return new OffstageError("invalid-message", `"${name}" cannot be stored because it is not JSON: ${why}.`);
}

/** A deep-frozen copy of a value, as `JSON.stringify` and `JSON.parse` would make it. */
export function frozenCopy<T>(value: T): T {
  const fresh = copyData(value, 0);
  return (fresh === unfit ? deepFreeze(JSON.parse(JSON.stringify(value))) : fresh) as T;
}

const unfit = Symbol("not JSON");

// Copies JSON data without a round trip through text; `unfit` for other data.
function copyData(value: unknown, depth: number): unknown {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  if (typeof value === "number" && Number.isFinite(value) && !Object.is(value, -0)) return value;
  if (typeof value !== "object" || depth > deepest) return unfit;
  if (Array.isArray(value)) return copyList(value, depth);
  return isPlainData(value) ? copyRecord(value, depth) : unfit;
}

/** True for a plain object without `toJSON`. */
export function isPlainData(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  return Object.getPrototypeOf(value) === Object.prototype && !("toJSON" in value);
}

function copyList(list: readonly unknown[], depth: number): unknown {
  const fresh: unknown[] = [];
  for (const item of list) {
    const copied = copyData(item, depth + 1);
    if (copied === unfit) return unfit;
    fresh.push(copied);
  }
  return Object.freeze(fresh);
}

function copyRecord(record: object, depth: number): unknown {
  // The spread copies a field called `__proto__` too, which an assignment to an empty object would not.
  const fresh: Record<string, unknown> = { ...record };
  if (Object.getOwnPropertySymbols(fresh).length > 0) return unfit;
  for (const [key, field] of Object.entries(fresh)) {
    const copied = copyData(field, depth + 1);
    if (copied === unfit) return unfit;
    fresh[key] = copied;
  }
  return Object.freeze(fresh);
}

/** Deep-freezes a value and returns it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const key in value) deepFreeze(value[key]);
  return value;
}
