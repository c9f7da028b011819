// Importer: the port for readers of other message formats, and their common functions. The readers themselves are in importers/.
import { isObject } from "../../base/json.ts";
import type { ContentPart, Message, ToolCall } from "../../messages/message.ts";
import type { Usage } from "../../tokens/usage.ts";
import { jsonText } from "../readers.ts";

/** Yes: only this format has such items. Maybe: this format has such items too. No: it is another format. */
export type Recognition = "yes" | "maybe" | "no";

/** Reads one format. **Contract:** pure; `toMessages` is called only if `recognises` returned "no" for no item. */
export interface Importer {
  /** The name of the format in errors. */
  readonly name: string;
  recognises(item: Fields): Recognition;
  toMessages(items: readonly Fields[]): Message[];
}

export type Fields = Readonly<Record<string, unknown>>;

/** The parts of content that are objects. A text is one text part. */
export function partsOf(content: unknown): readonly Fields[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isObject) : [];
}

/** The types of the parts of content. */
export function kindsOf(content: unknown): string[] {
  return Array.isArray(content) ? content.filter(isObject).map(({ type }) => textFrom(type)) : [];
}

/** "yes" if the type of a part is among the marks, else "maybe" if the content is text or parts, else "no". */
export function recognisesContent(content: unknown, marks: ReadonlySet<string>): Recognition {
  if (kindsOf(content).some((kind) => marks.has(kind))) return "yes";
  return typeof content === "string" || Array.isArray(content) || content === null || content === undefined
    ? "maybe"
    : "no";
}

/** Parts as content: text parts alone become one text, no parts undefined. */
export function contentFrom(parts: readonly ContentPart[]): string | readonly ContentPart[] | undefined {
  if (parts.length === 0) return undefined;
  return parts.every((part) => part.type === "text") ? parts.map(({ text }) => text).join("") : parts;
}

/** A tool call from an id, a name and arguments in any form. */
export function callFrom(id: unknown, name: unknown, input: unknown): ToolCall {
  const text = typeof input === "string" ? input : input === undefined ? "{}" : jsonText(input);
  return { id: textFrom(id), type: "function", function: { name: textFrom(name), arguments: text } };
}

/** Text as it is, a missing value as "", anything else as JSON. */
export function textFrom(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : jsonText(value);
}

/** The message with those metadata entries that are neither missing, false nor empty. */
export function withKnown<M extends Message>(message: M, entries: Fields): M {
  const known = Object.entries(entries).filter(([, value]) => value !== undefined && value !== false && value !== "");
  return known.length === 0 ? message : { ...message, metadata: { ...message.metadata, ...Object.fromEntries(known) } };
}

/** An image part of the chat format, from a URL or from base64 data. */
export function imagePart(url: unknown, mediaType: unknown = "image/png"): ContentPart {
  const text = url instanceof URL ? url.href : textFrom(url);
  const isAddress = /^(?:https?|data|file|blob):/.test(text);
  return { type: "image_url", image_url: { url: isAddress ? text : `data:${textFrom(mediaType)};base64,${text}` } };
}

/** Our usage, from the usage of Anthropic and LangChain. */
export function usageFrom(usage: unknown): Usage | undefined {
  const { input_tokens: inputTokens, output_tokens: outputTokens } = (usage ?? {}) as Fields;
  if (typeof inputTokens !== "number" || typeof outputTokens !== "number") return undefined;
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
}
