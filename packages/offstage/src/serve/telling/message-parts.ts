// The text and the files of a message, as clients see them.
import { isObject } from "../../base/json.ts";
import { type Message, textOf } from "../../messages/message.ts";
import type { ServedFilePart, ServedTextPart } from "./served-event.ts";

/** The text and the files of a message. */
export function partsOf(message: Message): (ServedTextPart | ServedFilePart)[] {
  const { content } = message;
  if (!Array.isArray(content)) return [{ type: "text", text: textOf(message) }];
  return (content as readonly unknown[]).flatMap((part): (ServedTextPart | ServedFilePart)[] => {
    if (!isObject(part)) return [];
    const { text, refusal, image_url, file } = part;
    if (part.type === "file" && typeof part.url === "string")
      return [filePart(part.url, part.mediaType, part.filename)];
    if (isObject(image_url)) return [filePart(String(image_url.url), "image", undefined)];
    if (isObject(file)) return typeof file.file_data === "string" ? [filePart(file.file_data, "", file.filename)] : [];
    const shown = text ?? refusal;
    return typeof shown === "string" ? [{ type: "text", text: shown }] : [];
  });
}

function filePart(url: string, mediaType: unknown, filename: unknown): ServedFilePart {
  const inUrl = /^data:([^;,]+)/.exec(url)?.[1];
  const known = inUrl ?? (typeof mediaType === "string" && mediaType !== "" ? mediaType : "application/octet-stream");
  return { type: "file", mediaType: known, url, ...(typeof filename === "string" && { filename }) };
}
