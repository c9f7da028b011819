// From export: reads json and jsonl exports back without loss. importers/ read the formats of other libraries.
import { isObject, parseJson } from "../../base/json.ts";
import { shownValue } from "../../base/options.ts";
import { messageOf, OffstageError } from "../../errors.ts";
import type { Message } from "../../messages/message.ts";
import { withoutMetadata } from "./exported-message.ts";

/** The messages of a json or jsonl export. Throws `invalid-format`, naming the line that is not JSON. */
export function fromExport(text: string): Message[] {
  if (typeof text !== "string") {
    const sentence = `fromExport() needs the text of a json or jsonl export; found ${shownValue(text)}.`;
    throw new OffstageError("invalid-argument", sentence);
  }
  const body = text.startsWith("\ufeff") ? text.slice(1) : text;
  // A list, or one value on several lines, or one value on each line.
  const whole = parseJson(body);
  const items = Array.isArray(whole) ? whole : whole === undefined ? parseLines(body) : [whole];
  return items.map((item) => (isObject(item) ? withoutMetadata(item as unknown as Message) : (item as Message)));
}

function parseLines(text: string): readonly unknown[] {
  return text.split("\n").flatMap((line, index) => (line.trim() === "" ? [] : [parseLine(line, index + 1)]));
}

function parseLine(line: string, number: number): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new OffstageError(
      "invalid-format",
      `Line ${number} is not JSON: ${messageOf(cause)}. Only json and jsonl exports can be read back.`,
      { cause },
    );
  }
}
