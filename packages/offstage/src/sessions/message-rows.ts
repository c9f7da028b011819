// Encodes and decodes messages. A row that cannot be read is reported and skipped, never removed.
import { messageOf, OffstageError } from "../errors.ts";
import { parseMessage, parseMessages } from "../messages/codec.ts";
import type { Message } from "../messages/message.ts";
import { hasFitMetadata, type Known, type PackedMessage, unpackMessage } from "./packed-message.ts";
import { frozenCopy, plainCopy } from "./plain-json.ts";
import { otherForm } from "./shape.ts";
import type { Report } from "./store-context.ts";
import type { Row } from "./store-driver.ts";

/** Checks and copies the messages of a caller. */
export function checkedMessages(items: readonly Message[]): Message[] {
  return parseMessages(items, { name: "items" }).map((message, index) => plainCopy(message, `items[${index}]`));
}

/** A deep-frozen copy of a message of a run. */
export function keptMessage(message: Message): Message {
  return frozenCopy(message);
}

/** Encodes a value as JSON; throws `invalid-message` if that is not possible. */
export function encode(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new OffstageError("invalid-message", `A value cannot be stored as JSON: ${messageOf(cause)}`, { cause });
  }
}

/** Decodes a message; throws if the value is not one. */
export function readMessage(value: unknown, known?: Known): Message {
  if (Array.isArray(value) && !hasFitMetadata(value)) throw otherForm();
  return parseMessage(unpackMessage(value as PackedMessage | Message, known));
}

/** A row with its description for errors. */
export interface StoredRow {
  readonly row: Row;
  /** Describes the row in errors: `message 12 of session "a" in memory`. */
  readonly name: string;
}

/** Decodes a row; if that fails, reports it and returns undefined. */
export function decode<T>(stored: StoredRow, report: Report, read: (value: unknown) => T): T | undefined {
  try {
    if (stored.row.damaged) throw new Error("its checksum does not match");
    return read(JSON.parse(stored.row.value));
  } catch (cause) {
    report(corrupt(stored.name, cause));
    return undefined;
  }
}

/** Decodes a message row; if that fails, reports it and returns undefined. */
export function decodeMessage(stored: StoredRow, report: Report): Message | undefined {
  return decode(stored, report, (value) => readMessage(value));
}

/** The error for data that is not as it was written. */
export function corrupt(name: string, cause: unknown): OffstageError {
  return new OffstageError("store-corrupt", `Damage in ${name}: ${messageOf(cause)}. Nothing was changed.`, { cause });
}
