// A message as a row, and back. Columns that repeat its metadata are for reading; the message itself is role, content or parts,
// tool_calls, tool_call_id, tool_name, metadata, provider_parts and fields.
import { isObject, type JsonObject, readJson } from "../../base/json.ts";
import { type Message, parseMessage, textOf, toolCallsOf } from "../../messages/message.ts";
import type { Put } from "../ports/store-driver.ts";
import type { MessageRow } from "../ports/tables.ts";
import { longestId } from "./check-row.ts";
import { type Content, type Hasher, hashOf, joinParts, splitParts } from "./contents.ts";
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

/** The same for the row of a message. */
export function rowIdentity({ message_id, tool_calls }: MessageRow): string | undefined {
  return message_id === null ? undefined : `${message_id} ${tool_calls !== null && tool_calls !== "[]"}`;
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

export interface ReadMessagesOptions extends ReadMessageOptions {
  /** Called for each row that is not one that was written. */
  onDamage(row: MessageRow, cause: unknown): void;
}

/** The messages of these rows. One that cannot be read is left out. */
export function readMessages(rows: readonly MessageRow[], options: ReadMessagesOptions): PlacedMessage[] {
  return rows.flatMap((row) => {
    try {
      return [{ row, message: readMessage(row, options), identity: rowIdentity(row) }];
    } catch (cause) {
      options.onDamage(row, cause);
      return [];
    }
  });
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
