// Message rows: messages as text and back. A row that cannot be read is reported and left out, never removed.
import { messageOf, OffstageError } from "../errors.ts";
import { parseMessage, parseMessages } from "../messages/codec.ts";
import type { Message } from "../messages/message.ts";
import { hasFitMetadata, type Known, type PackedMessage, unpackMessage } from "./packed-message.ts";
import { frozenCopy, isPlainData, plainCopy } from "./plain-json.ts";
import { otherForm } from "./shape.ts";
import type { Report } from "./store-context.ts";
import type { Row } from "./store-driver.ts";

/** The messages of a caller, checked and copied. */
export function checkedMessages(items: readonly Message[]): Message[] {
  return parseMessages(items, { name: "items" }).map((message, index) => plainCopy(message, `items[${index}]`));
}

/** A message of a run as a session keeps it: a frozen copy. */
export function keptMessage(message: Message): Message {
  const { role, content, metadata } = message;
  if (typeof content !== "string" || !isPlainData(message) || !isPlainData(metadata)) return frozenCopy(message);
  if (Object.keys(message).length !== 3) return frozenCopy(message);
  // The usual one by hand: a walk over its fields costs several times as much.
  return Object.freeze({ role, content, metadata: frozenCopy(metadata) }) as Message;
}

/** A value as JSON text; throws `invalid-message` where there is none. */
export function encode(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new OffstageError("invalid-message", `A value cannot be stored as JSON: ${messageOf(cause)}`, { cause });
  }
}

/** The message that a row holds; throws where it holds none. */
export function readMessage(value: unknown, known?: Known): Message {
  if (Array.isArray(value) && !hasFitMetadata(value)) throw otherForm();
  return parseMessage(unpackMessage(value as PackedMessage | Message, known));
}

/** A text that was stored with what it is of. */
export interface StoredRow {
  readonly row: Row;
  /** How an error calls it: `message 12 of session "a" in memory`. */
  readonly name: string;
}

/** What is read from the JSON of a row, or undefined after reporting that it cannot be. */
export function decode<T>(stored: StoredRow, report: Report, read: (value: unknown) => T): T | undefined {
  try {
    if (stored.row.damaged) throw new Error("its checksum does not match");
    return read(JSON.parse(stored.row.value));
  } catch (cause) {
    report(corrupt(stored.name, cause));
    return undefined;
  }
}

/** The message of a row, or undefined after reporting that it cannot be read. */
export function decodeMessage(stored: StoredRow, report: Report): Message | undefined {
  return decode(stored, report, (value) => readMessage(value));
}

/** What something that is not as it was written is reported as. */
export function corrupt(name: string, cause: unknown): OffstageError {
  return new OffstageError("store-corrupt", `Damage in ${name}: ${messageOf(cause)}. Nothing was changed.`, { cause });
}
