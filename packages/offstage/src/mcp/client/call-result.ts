// The result of a server's tool as a tool of ours returns it: text, a value, parts, or an error.
import type { ContentPart } from "../../messages/message.ts";
import { audio, file, image, text } from "../../messages/parts.ts";
import { ToolAnswer } from "../../tools/tool-answer.ts";

/** A block of a result or a prompt, of a known kind or another one. */
export interface ContentBlock {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** The result of a call, as far as it is read. */
export interface CallResult {
  readonly content?: readonly ContentBlock[] | undefined;
  readonly structuredContent?: unknown;
  readonly isError?: boolean | undefined;
}

// Media above this size become a marker: no provider takes them.
const maxMediaBytes = 8 * 1024 * 1024;

/** The value of a result: an error, the structured content in place of the text, one text, or parts if there is more than text. */
export function valueOfResult({ content = [], structuredContent, isError }: CallResult): unknown {
  const parts = content.map(partOfBlock);
  const whole = textOfParts(parts);
  if (isError === true) return new ToolAnswer(whole === "" ? errorText(structuredContent) : whole, { isError: true });
  const media = parts.filter(({ type }) => type !== "text");
  if (structuredContent === undefined) return media.length === 0 ? whole : parts;
  if (media.length === 0) return structuredContent;
  return [text(JSON.stringify(structuredContent)), ...media];
}

function errorText(structured: unknown): string {
  return structured === undefined ? "The tool failed without saying why." : JSON.stringify(structured);
}

function textOfParts(parts: readonly ContentPart[]): string {
  return parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/** A block as a part of a message. A block of another kind becomes text that names it. */
export function partOfBlock(block: ContentBlock): ContentPart {
  if (block.type === "text") return text(String(block.text ?? ""));
  if (block.type === "image" || block.type === "audio")
    return mediaPart(String(block.data ?? ""), typeOf(block), undefined);
  if (block.type === "resource_link") return text(`[resource ${String(block.name ?? "")}: ${String(block.uri ?? "")}]`);
  return block.type === "resource" ? resourcePart(block.resource) : text(`[${block.type}]`);
}

/** The contents of a resource as a part of a message. */
export function resourcePart(resource: unknown): ContentPart {
  const contents = (resource ?? {}) as { uri?: unknown; text?: unknown; blob?: unknown; mimeType?: unknown };
  if (typeof contents.text === "string") return text(contents.text);
  const name = String(contents.uri ?? "")
    .split("/")
    .at(-1);
  return mediaPart(String(contents.blob ?? ""), typeOf(contents), name);
}

function typeOf({ mimeType }: { readonly mimeType?: unknown; readonly [key: string]: unknown }): string {
  const [essence = ""] = String(mimeType ?? "").split(";", 1);
  return /^[\w.+-]+\/[\w.+-]+$/.test(essence) ? essence.toLowerCase() : "application/octet-stream";
}

function mediaPart(data: string, type: string, filename: string | undefined): ContentPart {
  const bytes = Math.floor((data.length * 3) / 4);
  if (bytes > maxMediaBytes) return text(`[${type}, ${bytes} bytes, left out: the limit is ${maxMediaBytes} bytes]`);
  if (data === "" || !/^[A-Za-z0-9+/=_-]+$/.test(data)) return text(`[${type}, left out: its data is not base64]`);
  if (type.startsWith("image/")) return image(data, type);
  if (type.startsWith("audio/")) return audio(data, type);
  return file(data, type, { filename: filename === "" ? undefined : filename });
}
