// Prepares a span to leave the process: plain, JSON-safe and redacted. Every exporter that writes or sends uses it.
import { isObject, type JsonObject, type JsonValue } from "../base/json.ts";
import type { Redactor } from "../base/redact.ts";
import type { SpanData } from "./span-data.ts";

const maxDepth = 32;

/** Copies `span` as plain JSON without secrets. Never throws: if `redact` does, the copy has no texts. */
export function redactSpan(span: SpanData, redact: Redactor): SpanData {
  const { traceId, spanId, parentSpanId, parentIsRemote, kind, startTime, endTime, duration, status } = span;
  const { name, traceName, groupId, metadata, content } = redactSafely(textsOf(span), redact);
  const place = { traceId, spanId, parentSpanId, parentIsRemote: parentIsRemote || undefined, traceName, groupId };
  return { ...place, name, kind, startTime, endTime, duration, status, metadata, content };
}

type Texts = Pick<SpanData, "name" | "traceName" | "groupId" | "metadata" | "content">;

function textsOf({ name, traceName, groupId, metadata, content }: SpanData): Texts {
  const plainContent = content === undefined ? undefined : plainObject(content);
  return { name, traceName, groupId, metadata: plainObject(metadata), content: plainContent };
}

function redactSafely(texts: Texts, redact: Redactor): Texts {
  try {
    return redact(texts);
  } catch {
    return { name: "[redacted]", traceName: undefined, groupId: undefined, metadata: {}, content: undefined };
  }
}

function plainObject(value: object): JsonObject {
  const copy = plain(value, []);
  return isObject(copy) ? (copy as JsonObject) : { unreadable: true };
}

function plain(value: unknown, path: readonly object[]): JsonValue | undefined {
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (typeof value === "bigint") return value.toString();
  return typeof value === "object" ? plainChildren(value, path) : undefined;
}

function plainChildren(value: object, path: readonly object[]): JsonValue {
  if (path.includes(value)) return "[circular]";
  if (path.length >= maxDepth) return "[too deep]";
  const inside = [...path, value];
  try {
    if (value instanceof Date) return value.toISOString();
    if (Array.isArray(value)) return value.map((item) => plain(item, inside) ?? null);
    const entries = Object.entries(value).map(([key, item]) => [key, plain(item, inside)] as const);
    return Object.fromEntries(entries.filter(([, item]) => item !== undefined));
  } catch {
    return "[unreadable]";
  }
}
