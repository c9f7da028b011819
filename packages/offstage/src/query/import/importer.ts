// Importer: what a reader of somebody else's message format is. The readers themselves are in importers/.
import { isObject } from "../../base/json.ts";
import type { ContentPart, Message, ToolCall } from "../../messages/message.ts";
import type { Usage } from "../../tokens/usage.ts";
import { jsonText } from "../readers.ts";

/** Yes: only this format looks so; maybe: it could be this one too; no: it is another. */
export type Recognition = "yes" | "maybe" | "no";

/** Reads one format. **Contract:** pure; `toMessages` is called only when no item was answered with "no". */
export interface Importer {
  /** How an error calls the format. */
  readonly name: string;
  recognises(item: Fields): Recognition;
  toMessages(items: readonly Fields[]): Message[];
}

export type Fields = Readonly<Record<string, unknown>>;

/** The parts of a content that are objects; a text is one text part. */
export function partsOf(content: unknown): readonly Fields[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isObject) : [];
}

/** The kinds of the parts of a content. */
export function kindsOf(content: unknown): string[] {
  return Array.isArray(content) ? content.filter(isObject).map(({ type }) => textFrom(type)) : [];
}

/** "yes" where a kind is among the marks, else "maybe" where the content is text or parts, else "no". */
export function recognisesContent(content: unknown, marks: ReadonlySet<string>): Recognition {
  if (kindsOf(content).some((kind) => marks.has(kind))) return "yes";
  return typeof content === "string" || Array.isArray(content) || content === null || content === undefined
    ? "maybe"
    : "no";
}

/** Parts as content: text alone as a text, undefined where there is nothing. */
export function contentFrom(parts: readonly ContentPart[]): string | readonly ContentPart[] | undefined {
  if (parts.length === 0) return undefined;
  return parts.every((part) => part.type === "text") ? parts.map(({ text }) => text).join("") : parts;
}

/** A tool call from an id, a name and arguments in any form. */
export function callFrom(id: unknown, name: unknown, input: unknown): ToolCall {
  const text = typeof input === "string" ? input : input === undefined ? "{}" : jsonText(input);
  return { id: textFrom(id), type: "function", function: { name: textFrom(name), arguments: text } };
}

/** A text as it is, nothing as "", anything else as JSON. */
export function textFrom(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : jsonText(value);
}

/** The message with those entries of metadata that are there. */
export function withKnown<M extends Message>(message: M, entries: Fields): M {
  const known = Object.entries(entries).filter(([, value]) => value !== undefined && value !== false && value !== "");
  return known.length === 0 ? message : { ...message, metadata: { ...message.metadata, ...Object.fromEntries(known) } };
}

/** An image as the chat format has it: an address, or data in an address. */
export function imagePart(url: unknown, mediaType: unknown = "image/png"): ContentPart {
  const text = url instanceof URL ? url.href : textFrom(url);
  const isAddress = /^(?:https?|data|file|blob):/.test(text);
  return { type: "image_url", image_url: { url: isAddress ? text : `data:${textFrom(mediaType)};base64,${text}` } };
}

/** A usage as Anthropic and LangChain write it, as ours. */
export function usageFrom(usage: unknown): Usage | undefined {
  const { input_tokens: inputTokens, output_tokens: outputTokens } = (usage ?? {}) as Fields;
  if (typeof inputTokens !== "number" || typeof outputTokens !== "number") return undefined;
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
}
