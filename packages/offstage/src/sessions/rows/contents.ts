// Contents: texts, files and large values, kept once per session by their hash. Message parts refer to them instead of holding bytes.
import { isObject, type JsonValue, parseJson } from "../../base/json.ts";
import type { ContentPart } from "../../messages/message.ts";
import type { Put } from "../ports/store-driver.ts";

/** The hash of a text. */
export function hashOf(text: string): string {
  return process.getBuiltinModule("node:crypto").createHash("sha256").update(text).digest("hex").slice(0, 32);
}

/** A text that is kept by its hash. */
export interface Content {
  readonly hash: string;
  readonly content: string;
}

/** Makes the hash of a content. */
export type Hasher = (text: string) => string;

export function contentOf(content: string, hasher: Hasher): Content {
  return { hash: hasher(content), content };
}

interface Owner {
  readonly namespace: string;
  readonly sessionId: string;
}

/** The row of a content. */
export function putContent({ namespace, sessionId }: Owner, { hash, content }: Content): Put {
  const row = { namespace, session_id: sessionId, hash, content, bytes: Buffer.byteLength(content), exact: null };
  return { table: "contents", row };
}

// Shorter values stay in the message: a reference would save nothing.
const shortest = 1024;
const reference = "$content";

/** Parts as they are stored: a list, or a list with references and the hashes of the contents that it refers to. */
type StoredParts =
  | readonly JsonValue[]
  | { readonly parts: readonly JsonValue[]; readonly contents: readonly string[] };

/** Message parts as JSON, with their long values (files, images, audio) replaced by references, and these values. */
export function splitParts(
  parts: readonly ContentPart[],
  hasher: Hasher,
): { json: string; contents: readonly Content[] } {
  const contents: Content[] = [];
  // A part that looks like a reference is kept as it is, with all others.
  if (JSON.stringify(parts).includes(`"${reference}"`)) return { json: JSON.stringify(parts), contents };
  const split = (value: JsonValue): JsonValue => {
    if (typeof value !== "string") return mapJson(value, split);
    if (value.length < shortest) return value;
    const content = contentOf(value, hasher);
    contents.push(content);
    return { [reference]: content.hash };
  };
  const all = parts.map((part) => (part.type === "text" ? plainOf(part) : split(plainOf(part))));
  const stored: StoredParts =
    contents.length === 0 ? parts.map(plainOf) : { parts: all, contents: contents.map(({ hash }) => hash) };
  return { json: JSON.stringify(stored), contents };
}

/** The hashes of the contents that stored parts refer to. */
export function referencesIn(json: string | null): readonly string[] {
  if (json === null || json.startsWith("[")) return [];
  const stored = parseJson(json);
  return isObject(stored) && Array.isArray(stored.contents) ? (stored.contents as string[]) : [];
}

/** The parts as they were. Throws if a content is missing. */
export function joinParts(json: string, contents: ReadonlyMap<string, string>): JsonValue {
  const stored = parseJson(json);
  if (Array.isArray(stored)) return stored;
  if (!isObject(stored) || !Array.isArray(stored.parts)) throw new Error('its column "parts" has an unexpected form');
  const known = new Set(referencesIn(json));
  const join = (value: JsonValue): JsonValue => {
    const hash = isObject(value) ? value[reference] : undefined;
    if (typeof hash !== "string" || !known.has(hash)) return mapJson(value, join);
    const content = contents.get(hash);
    if (content === undefined) throw new Error(`the content "${hash}" of a part is missing`);
    return content;
  };
  return stored.parts.map(join);
}

function plainOf(part: ContentPart): JsonValue {
  return part as unknown as JsonValue;
}

function mapJson(value: JsonValue, change: (value: JsonValue) => JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(change);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, change(each as JsonValue)]));
}
