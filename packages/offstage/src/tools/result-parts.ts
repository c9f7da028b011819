// The parts that a tool returned, within bounds: files are kept whole or left out, text is clipped for the model.
import type { JsonValue } from "../base/json.ts";
import type { ContentPart } from "../messages/message.ts";
import { text } from "../messages/parts.ts";
import { clip } from "./json-safe.ts";

const maxBytes = 8 * 1024 * 1024;

export interface ResultParts {
  readonly output: JsonValue;
  readonly content: readonly ContentPart[];
  /** How many bytes of text the model does not see. */
  readonly clippedBytes: number;
}

/** Copies the parts. A part beyond 8 MiB is only named. The model sees `maxTextBytes` of the texts. */
export function partsOf(parts: readonly ContentPart[], maxTextBytes: number): ResultParts {
  const whole = withinBounds(parts);
  let left = maxTextBytes;
  let clippedBytes = 0;
  const content = whole.map((part) => {
    if (part.type !== "text") return part;
    const clipped = clip(part.text, left);
    left = Math.max(0, left - Buffer.byteLength(clipped.text));
    clippedBytes += clipped.clippedBytes;
    return clipped.clippedBytes === 0 ? part : text(clipped.text);
  });
  return { output: whole as unknown as JsonValue, content, clippedBytes };
}

function withinBounds(parts: readonly ContentPart[]): ContentPart[] {
  let left = maxBytes;
  return parts.map((part) => {
    const json = JSON.stringify(part);
    const bytes = Buffer.byteLength(json);
    if (bytes > left) return text(`[${nameOf(part)}, ${bytes} bytes, left out: a result may have ${maxBytes} bytes]`);
    left -= bytes;
    return JSON.parse(json) as ContentPart;
  });
}

const names = { text: "text", refusal: "text", image_url: "image", input_audio: "audio", file: "file" };

function nameOf({ type }: ContentPart): string {
  return names[type];
}
