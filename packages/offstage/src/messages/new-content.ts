// New content: what a user's message must be to enter a conversation. Stored messages are not checked: what cannot be sent of them
// becomes a marker.
import { isObject } from "../base/json.ts";
import { OffstageError } from "../errors.ts";
import type { Content, Message } from "./message.ts";

type Fields = Record<string, unknown>;

const word = "[\\w!#$&^.+-]+";
const mediaType = new RegExp(`^${word}/${word}(?:[ \\t]*;[ \\t\\x21-\\x7e]*)?$`);
const vagueType = new RegExp(`^(?:${word}(?:/\\*)?)?$`);

/** True for a whole media type, such as "image/png" or "text/plain; charset=utf-8". */
export function isMediaType(text: string): boolean {
  return mediaType.test(text);
}

/** True for "image", "image/*" and "": the bytes or the URL may tell the rest. */
export function isVagueMediaType(text: string): boolean {
  return vagueType.test(text);
}

/** True for base64 text that is not empty, in either alphabet. Line breaks are allowed. */
export function isBase64(text: string): boolean {
  return /\w/.test(text) && !/[^\w+/=\s-]/.test(text);
}

/** Throws `invalid-message` if a user message behind the last other message is blank, or has a file that no provider could read. */
export function checkNewMessages(messages: readonly Message[], name: string): void {
  const start = messages.findLastIndex(({ role }) => role !== "user") + 1;
  for (const [index, { content }] of messages.slice(start).entries())
    checkNewContent(content ?? "", `${name}[${start + index}].content`);
}

/** The same for the content of one message. */
export function checkNewContent(content: Content, name: string): void {
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : (content as readonly unknown[]);
  const isBlank = ({ type, text }: Fields): boolean => type === "text" && String(text).trim() === "";
  if ((parts as readonly Fields[]).every(isBlank)) throw invalid(`"${name}" is blank. Write text, or add a file.`);
  for (const [index, part] of parts.entries()) {
    const wrong = isObject(part) ? faultOf(part) : undefined;
    if (wrong !== undefined) throw invalid(`"${name}[${index}]" ${wrong}`);
  }
}

/** Says why the file of a part is invalid, in the forms of OpenAI, the AI SDK and Anthropic; undefined if it is valid. */
function faultOf(part: Fields): string | undefined {
  const { type, image_url, file, source } = part;
  const fields = [file, source].find(isObject) ?? part;
  const stated = fields.mediaType ?? fields.mimeType ?? fields.media_type;
  if (type !== "file" && type !== "image" && type !== "document" && type !== "image_url") return undefined;
  if (typeof stated === "string" && !isMediaType(stated) && !isVagueMediaType(stated))
    return `has the media type ${shown(stated)}. Pass one such as "image/png".`;
  const address = isObject(image_url) ? image_url.url : (image_url ?? fields.file_data ?? fields.url);
  if (address !== undefined) return typeof address === "string" ? addressFault(address) : undefined;
  const data = fields.data ?? fields.image;
  if (fields.type === "text" || typeof data !== "string") return undefined;
  if (/^[a-z][a-z0-9+.-]*:/i.test(data)) return addressFault(data);
  return isBase64(data) ? undefined : `has data that is not base64: ${shown(data)}.`;
}

function addressFault(address: string): string | undefined {
  if (!/^data:/i.test(address))
    return URL.canParse(address)
      ? undefined
      : `points to ${shown(address)}, which is neither an absolute URL nor a data: URL. Pass one of them.`;
  const comma = address.indexOf(",");
  if (comma === -1) return `has a data: URL without data: ${shown(address)}.`;
  const isBroken = /;base64$/i.test(address.slice(0, comma)) && !isBase64(address.slice(comma + 1));
  return isBroken ? `has a data: URL whose data is not base64: ${shown(address)}.` : undefined;
}

function shown(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

function invalid(message: string): OffstageError {
  return new OffstageError("invalid-message", message);
}
