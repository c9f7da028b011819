// The dict format: the messages as plain objects, each with its computed fields. The caller may change them.
import { setField } from "../../base/json.ts";
import type { ExportView } from "../export/export-view.ts";
import { type ExportedMessage, exportedMessage } from "../export/exported-message.ts";

/** A copy of each message with `_metadata` added. It shares nothing with the message. */
export function dict(view: ExportView): ExportedMessage[] {
  return Array.from({ length: view.length }, (_, i) => deepCopy(exportedMessage(view.message(i), view.metadata(i))));
}

// Not recursive, because a value may be nested deeper than the stack. A value that contains itself does so in the copy too.
function deepCopy<T>(value: T): T {
  const copies = new Map<object, object>();
  const unfilled: object[] = [];
  const copyOf = (item: unknown): unknown => {
    if (typeof item !== "object" || item === null) return item;
    const known = copies.get(item);
    if (known !== undefined) return known;
    const isPlain = Array.isArray(item) || isPlainObject(item);
    const copy = isPlain ? (Array.isArray(item) ? [] : {}) : cloneOf(item);
    copies.set(item, copy);
    if (isPlain) unfilled.push(item);
    return copy;
  };
  const copied = copyOf(value);
  for (let source = unfilled.pop(); source !== undefined; source = unfilled.pop()) {
    const copy = copies.get(source) as Record<string, unknown>;
    if (Array.isArray(source)) copy.length = source.length;
    for (const key of Object.keys(source)) setField(copy, key, copyOf((source as Record<string, unknown>)[key]));
  }
  return copied as T;
}

function isPlainObject(item: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(item);
  return prototype === Object.prototype || prototype === null;
}

// Copies an object that is not JSON, such as a date, as well as possible.
function cloneOf(item: object): object {
  try {
    return structuredClone(item);
  } catch {
    return { ...item };
  }
}
