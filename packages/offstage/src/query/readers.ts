// Readers: the fields of a message as queries read them. They never throw, whatever a message looks like; `parseMessage` checks.
import { isObject, parseJson } from "../base/json.ts";
import {
  type Message,
  type MessageMetadata,
  type ResultStatus,
  resultStatus,
  type ToolCall,
} from "../messages/message.ts";

type Loose = { readonly [key: string]: unknown } | null | undefined;

const noMetadata: MessageMetadata = Object.freeze({});

/** The value if it is text. */
export function textIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The role, or "unknown" if a message has none. */
export function roleOf(message: Message): string {
  const role = (message as unknown as Loose)?.role;
  return typeof role === "string" ? role : "unknown";
}

/** The metadata, empty if there is none. */
export function metadataOf(message: Message): MessageMetadata {
  const metadata = (message as unknown as Loose)?.metadata;
  return isObject(metadata) ? metadata : noMetadata;
}

/** The content as text: text parts joined, other parts by their type in brackets. Undefined if there is none. */
export function contentOf(message: Message): string | undefined {
  const content = (message as unknown as Loose)?.content;
  if (typeof content === "string") return content;
  if (content === undefined || content === null) return undefined;
  return Array.isArray(content) ? textOfParts(content) : jsonText(content);
}

function textOfParts(parts: readonly unknown[]): string {
  let text = "";
  for (const part of parts) text += textOfPart(part);
  return text;
}

function textOfPart(part: unknown): string {
  if (typeof part === "string") return part;
  if (!isObject(part)) return part === undefined || part === null ? "" : jsonText(part);
  if (typeof part.text === "string") return part.text;
  if (typeof part.refusal === "string") return part.refusal;
  return typeof part.type === "string" ? `[${part.type}]` : jsonText(part);
}

/** The calls of an assistant message that are objects. */
export function callsOf(message: Message): readonly ToolCall[] {
  const fields = message as unknown as Loose;
  const calls = fields?.tool_calls;
  if (!Array.isArray(calls) || fields?.role !== "assistant") return [];
  return (calls.every(isObject) ? calls : calls.filter(isObject)) as unknown as readonly ToolCall[];
}

/** The name of the tool that a call asks for, or "unknown". */
export function nameOfCall(call: ToolCall): string {
  const name = (call.function as unknown as Loose)?.name;
  return typeof name === "string" && name !== "" ? name : "unknown";
}

/** The arguments of a call for people to read: indented JSON, or the text itself if it is not JSON. */
export function shownArguments(call: ToolCall): { readonly text: string; readonly isJson: boolean } {
  const given = (call.function as unknown as Loose)?.arguments ?? "";
  const value = typeof given === "string" ? parseJson(given) : given;
  return value === undefined ? { text: String(given), isJson: false } : { text: jsonText(value, 2), isJson: true };
}

/** The name that a tool result itself carries, if any. */
export function nameOfResult(message: Message): string | undefined {
  const name = (message as unknown as Loose)?.name;
  return typeof name === "string" && name !== "" ? name : undefined;
}

/** The id that links a call and its result, or "" if it is missing. */
export function linkOf(value: { readonly id?: unknown; readonly tool_call_id?: unknown }): string {
  const id = value.tool_call_id ?? value.id;
  return typeof id === "string" ? id : id === undefined || id === null ? "" : jsonText(id);
}

/** True if a message is marked as a failure. */
export function isErrorOf(message: Message): boolean {
  return metadataOf(message).isError === true;
}

/** How the call of a tool result ended. */
export function statusOf(result: Message): ResultStatus {
  return resultStatus({ metadata: metadataOf(result) });
}

/** The time at which the message was made, in epoch milliseconds, if it says so. */
export function timeOf(message: Message): number | undefined {
  const { createdAt } = metadataOf(message);
  const time = typeof createdAt === "string" ? Date.parse(createdAt) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

/** JSON text of any value. Values that JSON cannot hold are written as text. */
export function jsonText(value: unknown, indent: number | string = 0): string {
  try {
    return JSON.stringify(value, null, indent) ?? String(value);
  } catch {
    return safeJson(value, indent);
  }
}

/** JSON text of a value as an item of a list. Values that JSON cannot hold are null. */
export function jsonItem(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "null";
  } catch {
    return safeJson(value, 0);
  }
}

const maxDepth = 200;

// For values with numbers too big for JSON, with circles, or nested so deep that the stack would overflow.
function safeJson(value: unknown, indent: number | string): string {
  const above: unknown[] = [];
  function safe(this: unknown, _key: string, item: unknown): unknown {
    if (typeof item === "bigint") return item.toString();
    if (typeof item !== "object" || item === null) return item;
    while (above.length > 0 && above.at(-1) !== this) above.pop();
    if (above.includes(item)) return "[circular]";
    if (above.length >= maxDepth) return "[too deep]";
    above.push(item);
    return item;
  }
  return JSON.stringify(value, safe, indent);
}
