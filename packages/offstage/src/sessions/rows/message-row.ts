// A message as a row, and back. Columns that repeat its metadata are for reading; the message itself is role, content or parts,
// tool_calls, tool_call_id, tool_name, metadata, provider_parts and fields. Texts, files and large values are contents, kept once per
// session by their hash; message parts and model inputs refer to them instead of holding bytes.
import { isObject, type JsonObject, type JsonValue, parseJson, readJson } from "../../base/json.ts";
import { type ContentPart, type Message, parseMessage, textOf, toolCallsOf } from "../../messages/message.ts";
import type { Put } from "../ports/store-driver.ts";
import { longestId, type MessageRow } from "../ports/tables.ts";
import { isoTime } from "./run-row.ts";

/** The place of a message. */
export interface MessagePlace {
  readonly namespace: string;
  readonly sessionId: string;
  readonly seq: number;
  /** Makes the hashes of the contents that its parts refer to. Default: without a key. */
  readonly hasher?: Hasher | undefined;
  /** The place in the conversation; undefined for what was done. */
  readonly position?: number | undefined;
  /** The run and the step that wrote it. Default: those that its metadata names. */
  readonly run?: { readonly runId: string; readonly agent: string; readonly step: number | undefined } | undefined;
}

/** A message as it will be stored: its row, and the contents that its parts refer to. */
export interface StoredMessage {
  readonly put: Put;
  readonly contents: readonly Content[];
}

type Fields = Record<string, unknown>;

/** The row of a message. Expects plain JSON. Provider parts of a run's message go to a column of their own. */
export function storeMessage(message: Message, place: MessagePlace): StoredMessage {
  const { role, content, metadata, tool_calls, tool_call_id, name, ...rest } = message as unknown as Fields;
  const isTool = role === "tool";
  const data = (metadata ?? {}) as Fields;
  const { providerParts, ...others } = data;
  const split = Array.isArray(content) ? splitParts(content, place.hasher ?? hashOf) : undefined;
  const fields: Fields = { ...rest };
  // A message without content differs from one whose content is null.
  if (content === undefined) fields.content = false;
  if (tool_calls !== undefined && !Array.isArray(tool_calls)) fields.tool_calls = tool_calls;
  if (!isTool && tool_call_id !== undefined) fields.tool_call_id = tool_call_id;
  const isToolName = isTool && typeof name === "string";
  if (name !== undefined && !isToolName) fields.name = name;
  const { run } = place;
  const hasOwnParts = run !== undefined && providerParts !== undefined;
  const row: MessageRow = {
    namespace: place.namespace,
    session_id: place.sessionId,
    seq: place.seq,
    stream: place.position === undefined ? "done" : "said",
    position: place.position ?? null,
    run_id: run?.runId ?? idOrNull(data.runId),
    step: run === undefined ? stepOf(data) : (run.step ?? null),
    agent: run?.agent ?? textOrNull(data.agent),
    message_id: textOrNull(data.id),
    role: String(role),
    content: content === undefined || content === null ? null : textOf(message),
    parts: split?.json ?? null,
    tool_calls: Array.isArray(tool_calls) ? JSON.stringify(tool_calls) : null,
    tool_call_id: isTool ? String(tool_call_id) : null,
    tool_name: isToolName ? (name as string) : null,
    is_error: data.isError === true,
    created_at: isoTime(data.createdAt),
    metadata: metadata === undefined ? null : JSON.stringify(hasOwnParts ? others : data),
    provider_parts: hasOwnParts ? JSON.stringify(providerParts) : null,
    fields: Object.keys(fields).length === 0 ? null : JSON.stringify(fields),
    exact: null,
  };
  return { put: { table: "messages", row }, contents: split?.contents ?? [] };
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

// A longer text cannot be indexed. The metadata has them.
function idOrNull(value: unknown): string | null {
  return typeof value === "string" && Buffer.byteLength(value) <= longestId ? value : null;
}

function stepOf({ step }: Fields): number | null {
  return Number.isSafeInteger(step) ? (step as number) : null;
}

/**
 * Identifies a message of a session by its id and whether it has calls: a partial answer has the id of the message it was cut from,
 * but no calls. Undefined without an id.
 */
export function identityOf(message: Message): string | undefined {
  const { id } = message.metadata ?? {};
  return id === undefined ? undefined : `${id} ${toolCallsOf(message).length > 0}`;
}

export interface ReadMessageOptions {
  /** The contents that the row refers to, by hash. */
  readonly contents?: ReadonlyMap<string, string> | undefined;
  /** Includes the provider's own parts. Default false: the conversation does without them. */
  readonly withProviderParts?: boolean | undefined;
}

/** A message, and the row it was read from. */
export interface PlacedMessage {
  readonly row: MessageRow;
  readonly message: Message;
  /** The same as `identityOf(message)`. */
  readonly identity: string | undefined;
}

/** The message of a row. Throws if the row is not one that was written. */
export function readMessage(row: MessageRow, { contents, withProviderParts }: ReadMessageOptions = {}): Message {
  const message: Fields = { role: row.role };
  if (row.tool_call_id !== null) message.tool_call_id = row.tool_call_id;
  if (row.tool_name !== null) message.name = row.tool_name;
  message.content = row.parts === null ? row.content : joinParts(row.parts, contents ?? new Map());
  if (row.tool_calls !== null) message.tool_calls = readJson(row.tool_calls);
  if (row.metadata !== null) message.metadata = metadataOf(row, withProviderParts);
  const { content, ...fields } = readJson(row.fields, isObject) ?? {};
  if (content === false) delete message.content;
  return parseMessage({ ...message, ...fields });
}

function metadataOf({ metadata, provider_parts }: MessageRow, withProviderParts = false): JsonObject | undefined {
  const data = readJson(metadata, isObject) as JsonObject | undefined;
  if (!withProviderParts || provider_parts === null) return data;
  return { ...data, providerParts: readJson(provider_parts) };
}

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
function splitParts(parts: readonly ContentPart[], hasher: Hasher): { json: string; contents: readonly Content[] } {
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
function referencesIn(json: string | null): readonly string[] {
  if (json === null || json.startsWith("[")) return [];
  const stored = parseJson(json);
  return isObject(stored) && Array.isArray(stored.contents) ? (stored.contents as string[]) : [];
}

/** The hashes of the contents that these rows refer to, each once. */
export function referencesOf(rows: readonly { readonly parts: string | null }[]): readonly string[] {
  return [...new Set(rows.flatMap(({ parts }) => referencesIn(parts)))];
}

/** The parts as they were. Throws if a content is missing. */
function joinParts(json: string, contents: ReadonlyMap<string, string>): JsonValue {
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
