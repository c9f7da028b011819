// Reads the content parts of a message, in the forms of OpenAI, the AI SDK (model and UI messages), Anthropic and MCP, as parts of a
// prompt.
import { isObject } from "../base/json.ts";
import type { Content, ToolMessage } from "../messages/message.ts";
import { markerWith, mediaTypeOfBytes, mediaTypeOfUrl } from "./media.ts";
import type { FileData, PromptFile, PromptText } from "./model.ts";

type Fields = Record<string, unknown>;
type ListedContent = Exclude<Content, string>;

/** The parts of content that is not text alone. Leaves out those that no provider can read, such as `data-*` parts of a chat UI. */
export function contentParts(content: ListedContent): (PromptText | PromptFile)[] {
  return content.flatMap((part) => readPart(part as unknown as Fields) ?? []);
}

/** The parts of a tool result. Parts that are not known are data for the model, so they are kept as JSON text. */
export function resultParts(content: ListedContent): (PromptText | PromptFile)[] {
  return content.map((part) => readPart(part as unknown as Fields) ?? { type: "text", text: JSON.stringify(part) });
}

/** The content of a tool result as text, with markers in place of files. */
export function textWithMarkers(content: Content, words = "not shown"): string {
  if (typeof content === "string") return content;
  const texts = resultParts(content).map((part) => (part.type === "text" ? part : markerWith(part, words)).text);
  return texts.join("\n");
}

/** A tool result of an earlier turn: its files are not shown again. */
export function withoutFiles(message: ToolMessage): ToolMessage {
  const { content } = message;
  const hasFiles = typeof content !== "string" && resultParts(content).some(({ type }) => type === "file");
  return hasFiles ? { ...message, content: textWithMarkers(content, "not shown again") } : message;
}

/** The types of the parts that `contentParts` leaves out. */
export function unreadableTypes(content: ListedContent): string[] {
  const parts = content as readonly unknown[] as readonly Fields[];
  return parts.filter((part) => readPart(part) === undefined).map(({ type }) => String(type));
}

function readPart(part: Fields): PromptText | PromptFile | undefined {
  const { type, text, refusal, image_url, input_audio, file, source } = part;
  if (isObject(image_url)) return addressedPart(String(image_url.url), "image");
  if (typeof image_url === "string") return addressedPart(image_url, "image");
  if (isObject(input_audio)) return audioPart(input_audio);
  if (isObject(file)) return documentPart(file);
  if (type === "file") return filePart(part, part.url ?? part.data);
  if (type === "image" && part.image !== undefined) return filePart({ mediaType: "image", ...part }, part.image);
  if ((type === "image" || type === "audio") && typeof part.data === "string")
    return filePart(
      { mediaType: type, ...part, ...(part.mimeType !== undefined && { mediaType: part.mimeType }) },
      part.data,
    );
  if ((type === "image" || type === "document") && isObject(source)) return sourcePart(part, source);
  if (typeof text === "string" && type !== "reasoning") return { type: "text", text };
  return typeof refusal === "string" ? { type: "text", text: refusal } : undefined;
}

function audioPart({ data, format }: Fields): PromptFile {
  const mediaType = format === "mp3" ? "audio/mpeg" : `audio/${format ?? "wav"}`;
  return { type: "file", mediaType, data: { type: "data", data: String(data) } };
}

function documentPart({ file_data, file_id, filename }: Fields): PromptFile | PromptText {
  const named = typeof filename === "string" ? { filename } : undefined;
  if (typeof file_data === "string") return withName(addressedPart(file_data, "application/pdf"), filename);
  const reference = { type: "reference", reference: { openai: String(file_id) } } as unknown as FileData;
  return { type: "file", mediaType: "application/pdf", data: reference, ...named };
}

// Anthropic: { type: "base64", media_type, data }, { type: "url", url } or { type: "text", data }.
function sourcePart(
  { type }: Fields,
  { type: kind, media_type, data, url }: Fields,
): PromptText | PromptFile | undefined {
  if (kind === "text") return { type: "text", text: String(data) };
  return filePart({ mediaType: media_type ?? (type === "image" ? "image" : "application/pdf") }, url ?? data);
}

// A file of the AI SDK: its data is base64, bytes, a URL or one of these with a tag.
function filePart(part: Fields, source: unknown): PromptFile | PromptText | undefined {
  const mediaType = textIn(part.mediaType) ?? textIn(part.mimeType) ?? "";
  const made = partOf(source, mediaType);
  return made && withName(made, part.filename ?? part.name);
}

function partOf(source: unknown, mediaType: string): PromptFile | PromptText | undefined {
  const bytes = bytesOf(source);
  if (bytes !== undefined) return bytesPart(bytes, mediaType);
  if (source instanceof URL) return addressedPart(source.href, mediaType);
  if (typeof source === "string")
    return /^[a-z][a-z0-9+.-]*:/i.test(source) ? addressedPart(source, mediaType) : base64Part(source, mediaType);
  if (!isObject(source)) return undefined;
  if (source.type === "text") return bytesPart(Buffer.from(String(source.text)), mediaType || "text/plain");
  if (source.type === "reference") return { type: "file", mediaType, data: source as unknown as FileData };
  return source.type === "data" || source.type === "url" ? partOf(source.data ?? source.url, mediaType) : undefined;
}

// Bytes, or what JSON makes of them.
function bytesOf(source: unknown): Uint8Array | undefined {
  if (source instanceof Uint8Array) return source;
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  if (!isObject(source)) return undefined;
  const listed = source.type === "Buffer" ? source.data : "0" in source ? Object.values(source) : undefined;
  return Array.isArray(listed) ? Uint8Array.from(listed as number[]) : undefined;
}

function bytesPart(bytes: Uint8Array, mediaType: string): PromptFile {
  return base64Part(Buffer.from(bytes).toString("base64"), mediaType);
}

function base64Part(text: string, mediaType: string): PromptFile {
  return { type: "file", mediaType: mediaTypeOfBytes(mediaType, text), data: { type: "data", data: text } };
}

function withName(part: PromptFile | PromptText, filename: unknown): PromptFile | PromptText {
  return part.type === "file" && typeof filename === "string" && filename !== "" ? { ...part, filename } : part;
}

function textIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

// `data:image/png;base64,…` contains its bytes and its type; anything else must be an absolute URL.
// Such an address is refused in a new message; an old one may have it, and must not end every run.
function addressedPart(source: string, mediaType: string): PromptFile | PromptText {
  const inline = /^data:([^;,]*)([^,]*),/i.exec(source);
  if (inline !== null) {
    const [head, type, parameters = ""] = inline;
    const text = source.slice(head.length);
    const data = /;base64$/i.test(parameters) ? text : decodePercent(text).toString("base64");
    return { type: "file", mediaType: mediaTypeOfBytes(type || mediaType, data), data: { type: "data", data } };
  }
  if (/^data:/i.test(source) || !URL.canParse(source)) {
    const shown = source.length > 60 ? `${source.slice(0, 60)}…` : source;
    return { type: "text", text: `[file at ${JSON.stringify(shown)}, not shown: this is no address]` };
  }
  const url = new URL(source);
  return { type: "file", mediaType: mediaTypeOfUrl(mediaType, url), data: { type: "url", url } };
}

// Decodes percent-encoded text into bytes.
function decodePercent(text: string): Buffer {
  const bytes = text.replace(/%([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  return Buffer.from(bytes, "latin1");
}
