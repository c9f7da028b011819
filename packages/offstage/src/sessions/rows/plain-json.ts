// A checked copy of a value, for storing it as JSON.
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
