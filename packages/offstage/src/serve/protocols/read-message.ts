// Reads the user message of a body. Only text and files count; URLs are checked and never fetched.
import { isObject } from "../../base/json.ts";
import { messageOf } from "../../errors.ts";
import type { Content, ContentPart, UserMessage } from "../../messages/message.ts";
import { checkNewContent } from "../../messages/new-content.ts";
import { badRequest } from "./refused-request.ts";

type Fields = Record<string, unknown>;

/** The user message: text, `{ parts }` as the AI SDK has it, or `{ content }` as AG-UI and OpenAI have it. */
export function readUserMessage(value: unknown): UserMessage {
  if (typeof value === "string") return { role: "user", content: checkText(value) };
  if (!isObject(value)) throw badRequest("The message must be text or an object with parts.");
  if ((value.role ?? "user") !== "user") throw badRequest("Only messages with the role user are accepted.");
  const source = value.parts ?? value.content ?? value.text;
  if (typeof source === "string") return { role: "user", content: checkText(source) };
  if (!Array.isArray(source)) throw badRequest("The message has no parts.");
  const parts = source.flatMap(readPart);
  checkParts(parts);
  const [first] = parts;
  if (first === undefined) throw badRequest("The message is empty.");
  const content: Content = parts.length === 1 && first.type === "text" ? checkText(first.text) : parts;
  return { role: "user", content };
}

function checkText(text: string): string {
  if (text.trim() === "") throw badRequest("The message is empty.");
  return text;
}

function checkParts(parts: readonly ContentPart[]): void {
  try {
    checkNewContent(parts, "parts");
  } catch (error) {
    throw badRequest(messageOf(error));
  }
}

// Parts of a chat UI that no model reads, such as `data-*`, are left out.
function readPart(part: unknown): ContentPart[] {
  if (!isObject(part) || typeof part.type !== "string") throw badRequest("A part of the message is not an object.");
  const { type, text } = part;
  if (type === "text" && typeof text === "string") return text === "" ? [] : [{ type, text }];
  if (type.startsWith("data-")) return [];
  if (type === "file") return [filePart(part.mediaType ?? part.mimeType, part.url, part.filename)];
  if (isObject(part.source)) return [sourcePart(type, part.source, part.filename)];
  if (isObject(part.image_url)) return [filePart("image", part.image_url.url, undefined)];
  throw badRequest(`A message of the user cannot have a part of the type "${type}".`);
}

// AG-UI: { source: { type: "url" | "data", value, mimeType } }.
function sourcePart(type: string, { type: kind, value, mimeType }: Fields, filename: unknown): ContentPart {
  const mediaType = typeof mimeType === "string" ? mimeType : type === "document" ? "application/pdf" : type;
  const url = kind === "data" ? `data:${mediaType};base64,${String(value)}` : value;
  return filePart(mediaType, url, filename);
}

function filePart(mediaType: unknown, url: unknown, filename: unknown): ContentPart {
  if (typeof mediaType !== "string" || typeof url !== "string") throw badRequest("A file needs a mediaType and a url.");
  if (!/^(https|data):/i.test(url) || !URL.canParse(url))
    throw badRequest("The url of a file must begin with https: or data:.");
  const named = typeof filename === "string" ? { filename } : undefined;
  // The form of the AI SDK, which keeps the media type.
  return { type: "file", mediaType, url, ...named } as unknown as ContentPart;
}

/** The newest message of a list, which must be the last one. */
export function lastOf(messages: unknown): Fields {
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
  if (!isObject(last)) throw badRequest("The body has no messages.");
  return last;
}

/** A text that is not empty; anything else is refused. */
export function readText(value: unknown, name: string): string {
  if (typeof value !== "string" || value === "") throw badRequest(`"${name}" must be text.`);
  return value;
}

export function readOptionalText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
