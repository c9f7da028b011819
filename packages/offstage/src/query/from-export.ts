// From export: reads back what the json and jsonl formats wrote, without loss. Other formats are read by importers/.
import { messageOf, OffstageError } from "../errors.ts";
import type { Message } from "../messages/message.ts";
import { withoutMetadata } from "./with-metadata.ts";

/** The messages of a json or jsonl export. Throws `invalid-format` naming the line that is not JSON. */
export function fromExport(text: string): Message[] {
  const body = text.startsWith("\ufeff") ? text.slice(1) : text;
  const items = body.trimStart().startsWith("[") ? parseArray(body) : parseLines(body);
  return items.map((item) =>
    typeof item === "object" && item !== null ? withoutMetadata(item as Message) : (item as Message),
  );
}

function parseArray(text: string): readonly unknown[] {
  try {
    return JSON.parse(text) as unknown[];
  } catch (cause) {
    throw new OffstageError("invalid-format", `The text is no JSON export: ${messageOf(cause)}.`, { cause });
  }
}

function parseLines(text: string): readonly unknown[] {
  const whole = parseWhole(text);
  if (whole !== undefined) return [whole];
  return text.split("\n").flatMap((line, index) => (line.trim() === "" ? [] : [parseLine(line, index + 1)]));
}

// One message, or one request or response that holds some, may be written over several lines.
function parseWhole(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function parseLine(line: string, number: number): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new OffstageError("invalid-format", `Line ${number} is not JSON: ${messageOf(cause)}.`, { cause });
  }
}
