// Contents: texts, files and large values, kept once per session by their hash. Message parts and model inputs refer to them instead
// of holding bytes.
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

/** The hashes of the contents that these rows refer to, each once. */
export function referencesOf(rows: readonly { readonly parts: string | null }[]): readonly string[] {
  return [...new Set(rows.flatMap(({ parts }) => referencesIn(parts)))];
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

/**
 * How a step refers to a message of its model input: a message of the conversation by its position, another row of the session by its seq, or a content by its
 * hash.
 */
export type MessageRef = `p${number}` | `m${number}` | `#${string}`;

/** A row of a message: its seq, and its position in the conversation if it was said. */
export interface RowRef {
  readonly seq: number;
  readonly position?: number | null | undefined;
}

/** The input of one model call, by reference. An ordinary step says "as before plus the messages of that step", in a few bytes. */
export interface InputRef {
  /** The hash of the content with model, tools and settings. */
  readonly setup: string;
  /** Undefined: the messages of the step before, followed by the messages which that step made. */
  readonly messages?: readonly MessageRef[] | undefined;
}

const continued = "+";

/** The text of a reference: the setup, then "+" or the messages, each a row or the hash of a content: `3f… #9c…,p12-61,m70`. */
export function formatInput(setup: string, messages: readonly (RowRef | string)[] | undefined): string {
  return `${setup} ${messages === undefined ? continued : formatMessages(messages)}`;
}

// Rows that follow each other are one range: by their positions, or by their seqs if that covers more of them.
function formatMessages(messages: readonly (RowRef | string)[]): string {
  const parts: string[] = [];
  for (let start = 0; start < messages.length; ) {
    const first = messages[start] as RowRef | string;
    const range = typeof first === "string" ? { text: `#${first}`, count: 1 } : longestRange(messages, start, first);
    parts.push(range.text);
    start += range.count;
  }
  return parts.join(",");
}

function longestRange(
  messages: readonly (RowRef | string)[],
  start: number,
  { seq, position }: RowRef,
): { text: string; count: number } {
  const count = (name: "seq" | "position", first: number): number => {
    let end = start + 1;
    for (let row = messages[end]; typeof row === "object" && row[name] === first + end - start; row = messages[end])
      end++;
    return end - start;
  };
  const text = (first: number, length: number) => (length === 1 ? `${first}` : `${first}-${first + length - 1}`);
  const done = count("seq", seq);
  const said = typeof position === "number" ? count("position", position) : 0;
  return said >= done
    ? { text: `p${text(position ?? 0, said)}`, count: said }
    : { text: `m${text(seq, done)}`, count: done };
}

/** The hash of the content that a long reference is kept as: `@9c…`; undefined for a reference that is kept itself. */
export function keptRef(text: string | null): string | undefined {
  return text?.startsWith("@") ? text.slice(1) : undefined;
}

/** Parses the text of a reference; undefined if it has another form. */
export function parseInput(text: string): InputRef | undefined {
  const [, setup = "", list = ""] = /^([0-9a-f]+) (\S*)$/.exec(text) ?? [];
  if (setup === "") return undefined;
  return list === continued ? { setup } : { setup, messages: list === "" ? [] : list.split(",").flatMap(parsePart) };
}

function parsePart(part: string): MessageRef[] {
  const kind = part.charAt(0);
  if (kind === "#") return [part as MessageRef];
  const [first = 0, last = first] = part.slice(1).split("-").map(Number);
  return Array.from({ length: last - first + 1 }, (_, index) => `${kind}${first + index}` as MessageRef);
}
