// Parts of content: makers for text, images, audio and other files, and the test for a value that is a list of them. A part is JSON, so
// bytes become base64.
import { isObject } from "../base/json.ts";
import { anything, checkOptions, type OptionRule, shownValue } from "../base/options.ts";
import { OffstageError } from "../errors.ts";
import type { AudioPart, ContentPart, FilePart, ImagePart, TextPart } from "./message.ts";
import { isMediaType } from "./new-content.ts";

/** The content of a file: bytes, base64 text, a `data:` URL, or the URL of a file that the model or the agent's `download` fetches. */
export type FileSource = Uint8Array | ArrayBuffer | URL | string;

export interface FilePartOptions {
  /** Shown to the model, if its provider takes names. */
  readonly filename?: string | undefined;
}

const fileRules: Readonly<Record<keyof FilePartOptions, OptionRule>> = { filename: anything };

/** A text. */
export function text(content: string): TextPart {
  if (typeof content !== "string") throw invalid(`text() needs text; found ${shownValue(content)}.`);
  return { type: "text", text: content };
}

/** An image. The media type of a URL may be left out. */
export function image(source: FileSource, mediaType = "image/*"): ImagePart {
  return { type: "image_url", image_url: { url: addressOf(source, { mediaType, kind: "image" }) } };
}

/** A sound, as data: "audio/wav" or "audio/mpeg" are understood by most models that listen. */
export function audio(source: Exclude<FileSource, URL>, mediaType = "audio/wav"): AudioPart {
  const address = addressOf(source, { mediaType, kind: "audio" });
  const [, type = "", data] = /^data:([^;,]*);base64,(.*)$/s.exec(address) ?? [];
  if (data === undefined) throw invalid("audio() needs bytes or base64 text: no model fetches sounds at URLs.");
  const format = type.slice("audio/".length);
  return { type: "input_audio", input_audio: { data, format: format === "mpeg" ? "mp3" : format } };
}

/** A file of any type, such as "application/pdf" or "text/csv". */
export function file(source: FileSource, mediaType: string, options: FilePartOptions = {}): FilePart {
  checkOptions(options, fileRules, "file");
  const { filename } = options;
  const address = addressOf(source, { mediaType, kind: "file" });
  return { type: "file", file: { file_data: address, ...(filename !== undefined && { filename }) } };
}

interface Expected {
  readonly mediaType: string;
  readonly kind: "image" | "audio" | "file";
}

function addressOf(source: unknown, { mediaType, kind }: Expected): string {
  const isOfKind = kind === "file" || String(mediaType).startsWith(`${kind}/`);
  if (typeof mediaType !== "string" || !isOfKind || !(isMediaType(mediaType) || mediaType === `${kind}/*`))
    throw invalid(
      `${kind}() needs a media type such as "${examples[kind]}" as its second argument; found ${shownValue(mediaType)}.`,
    );
  if (source instanceof URL) return source.href;
  if (source instanceof Uint8Array || source instanceof ArrayBuffer)
    return `data:${mediaType};base64,${Buffer.from(source as Uint8Array).toString("base64")}`;
  if (typeof source !== "string" || source === "")
    throw invalid(`${kind}() needs bytes, base64 text or a URL; found ${shownValue(source)}.`);
  return /^[a-z][a-z0-9+.-]*:/i.test(source) ? source : `data:${mediaType};base64,${source}`;
}

const examples = { image: "image/png", audio: "audio/wav", file: "application/pdf" };

function invalid(message: string): OffstageError {
  return new OffstageError("invalid-argument", message);
}

/** The parts that an object consists of: one part, or a list of parts and nothing else. Undefined for any other object. */
export function partsIn(value: object | null): readonly ContentPart[] | undefined {
  try {
    const list: readonly unknown[] = Array.isArray(value) ? value : [value];
    return list.length > 0 && list.every(isPart) ? list : undefined;
  } catch {
    // A proxy or a getter may throw.
    return undefined;
  }
}

// Exactly the fields of a part: an object that merely resembles one is data.
function isPart(value: unknown): value is ContentPart {
  if (!isObject(value)) return false;
  const { type } = value;
  if (type === "text") return hasOnly(value, ["type", "text"]) && typeof value.text === "string";
  const field = fields[type as keyof typeof fields];
  if (field === undefined || !hasOnly(value, ["type", field.name])) return false;
  const content = value[field.name];
  return isObject(content) && hasOnly(content, field.keys) && Object.values(content).every(isText);
}

const fields = {
  image_url: { name: "image_url", keys: ["url", "detail"] },
  input_audio: { name: "input_audio", keys: ["data", "format"] },
  file: { name: "file", keys: ["file_data", "file_id", "filename"] },
} as const;

function hasOnly(value: object, keys: readonly string[]): boolean {
  const own = Object.keys(value);
  return own.length > 0 && own.every((key) => keys.includes(key));
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}
