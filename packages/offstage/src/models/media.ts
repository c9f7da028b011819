// Media of content parts: finds out their types, and describes those that a model cannot take.
import { isBase64, isMediaType, isVagueMediaType } from "../messages/new-content.ts";
import type { PromptFile, PromptText } from "./model.ts";

// The first characters of well-known files in base64. WebP and WAV begin alike, so they are told only by the kind that is given.
const signatures: readonly (readonly [beginning: string, mediaType: string])[] = [
  ["iVBORw0KGgo", "image/png"],
  ["/9j/", "image/jpeg"],
  ["R0lGOD", "image/gif"],
  ["UklGR", "image/webp"],
  ["JVBERi", "application/pdf"],
  ["SUkqA", "image/tiff"],
  ["UklGR", "audio/wav"],
  ["SUQz", "audio/mpeg"],
  ["T2dnUw", "audio/ogg"],
  ["ZkxhQw", "audio/flac"],
];

const extensions: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  svg: "image/svg+xml",
  pdf: "application/pdf",
  wav: "audio/wav",
  mp3: "audio/mpeg",
  mp4: "video/mp4",
  txt: "text/plain",
  md: "text/markdown",
  csv: "text/csv",
  json: "application/json",
};

/** Completes a media type such as "image", "image/*" or "" from the bytes. Returns "image/*" if they tell nothing. */
export function mediaTypeOfBytes(given: string, data: string | Uint8Array): string {
  if (isMediaType(given)) return given;
  const beginning = typeof data === "string" ? data.slice(0, 16) : Buffer.from(data.slice(0, 12)).toString("base64");
  const found = signatures.find(([start, type]) => beginning.startsWith(start) && isOfKind(type, given));
  return found?.[1] ?? anyOfKind(given);
}

/** Completes a media type from the extension of a URL. */
export function mediaTypeOfUrl(given: string, url: URL): string {
  if (isMediaType(given)) return given;
  const extension = /\.([a-z0-9]+)$/i.exec(url.pathname)?.[1]?.toLowerCase() ?? "";
  const type = extensions[extension];
  return type !== undefined && isOfKind(type, given) ? type : anyOfKind(given);
}

function isOfKind(mediaType: string, given: string): boolean {
  return (given === "" && !isRiff(mediaType)) || mediaType.startsWith(`${given.split("/")[0]}/`);
}

// Images and sounds begin alike.
function isRiff(mediaType: string): boolean {
  return mediaType === "image/webp" || mediaType === "audio/wav";
}

function anyOfKind(given: string): string {
  return given === "" || !isVagueMediaType(given) ? "application/octet-stream" : `${given.split("/")[0]}/*`;
}

/** The URL without its query and fragment, which may hold keys. */
export function plainUrl(url: URL): string {
  return `${url.protocol}//${url.host}${url.pathname}`;
}

/** A text in place of a file that the model cannot take, so that the model knows of it. */
export function markerOf(file: PromptFile): PromptText {
  return markerWith(file, `not shown: this model takes no ${nounOf(file).many}`);
}

/** A text in place of a file that no provider could read: its data is broken, or of an unknown type. Undefined for any other file. */
export function brokenMarkerOf(file: PromptFile): PromptText | undefined {
  const { data, mediaType } = file;
  if (data.type !== "data") return undefined;
  if (typeof data.data === "string" ? !isBase64(data.data) : data.data.length === 0)
    return markerWith(file, "not shown: it has no data that can be read");
  return isMediaType(mediaType) ? undefined : markerWith(file, "not shown: its type is not known");
}

/** A text in place of a file, which says why or where: `[image image/png, 12 kB, not shown again]`. */
export function markerWith(file: PromptFile, words: string): PromptText {
  const { mediaType, filename, data } = file;
  const details = [filename && `"${filename}"`, mediaType, placeOf(data), words].filter((part) => part).join(", ");
  return { type: "text", text: `[${nounOf(file).one} ${details}]` };
}

function nounOf({ mediaType }: PromptFile): { readonly one: string; readonly many: string } {
  const [kind = ""] = mediaType.split("/");
  return nouns[kind] ?? { one: "file", many: "files of this type" };
}

const nouns: Readonly<Record<string, { readonly one: string; readonly many: string }>> = {
  image: { one: "image", many: "such images" },
  audio: { one: "audio", many: "audio" },
  video: { one: "video", many: "video" },
};

function placeOf(data: PromptFile["data"]): string {
  if (data.type === "url") return plainUrl(data.url);
  return data.type === "data" ? sizeOf(bytesIn(data.data)) : "";
}

function bytesIn(data: string | Uint8Array): number {
  return typeof data === "string" ? Math.floor((data.replace(/=+$/, "").length * 3) / 4) : data.length;
}

function sizeOf(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** The text of a text file, with its name; undefined if it is not one. */
export function textOfFile({ mediaType, filename, data }: PromptFile): PromptText | undefined {
  if (!/^text\/|^application\/(?:.+\+)?(?:json|xml|yaml)$/.test(mediaType) || data.type !== "data") return undefined;
  const bytes = typeof data.data === "string" ? Buffer.from(data.data, "base64") : data.data;
  return {
    type: "text",
    text: `[file ${filename === undefined ? mediaType : `"${filename}"`}]\n${new TextDecoder().decode(bytes)}`,
  };
}
