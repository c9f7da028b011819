// The note of a compaction: plain JSON with which a later run, or the same run after a resume, shows the same view.
import { isObject } from "../../base/json.ts";
import { OffstageError } from "../../errors.ts";
import { parseMessages } from "../../messages/message.ts";
import type { PartNote } from "./compacted-part.ts";

const version = 1;

export interface CompactionNote {
  readonly version: number;
  readonly conversation: PartNote;
  /** The note of the tool trace, if that was shortened too. */
  readonly trace?: PartNote;
}

/** Makes the note of two parts. */
export function writeNote(conversation: PartNote, trace: PartNote | undefined): CompactionNote {
  return { version, conversation, ...(trace !== undefined && { trace }) };
}

/** Reads a note. Throws `invalid-state` or `invalid-message` if the value is not a note, or a newer one. */
export function readNote(value: unknown): CompactionNote {
  if (!isObject(value) || !Number.isInteger(value.version)) throw invalid("it is not a note of a compaction");
  if ((value.version as number) > version) throw invalid(`it has version ${value.version}: update Offstage to read it`);
  const trace = value.trace === undefined ? undefined : readPart(value.trace, "trace");
  return writeNote(readPart(value.conversation, "conversation"), trace);
}

function readPart(value: unknown, name: string): PartNote {
  if (!isObject(value) || !Number.isInteger(value.from) || typeof value.last !== "string")
    throw invalid(`"${name}" has no "from" and "last"`);
  return {
    from: value.from as number,
    last: value.last,
    lastSaid: typeof value.lastSaid === "string" ? value.lastSaid : "",
    pinned: parseMessages(value.pinned, { name: `${name}.pinned` }),
    summary: parseMessages(value.summary, { name: `${name}.summary` }),
    head: parseMessages(value.head, { name: `${name}.head` }),
  };
}

function invalid(why: string): OffstageError {
  const sentence = `This note of a compaction cannot be read: ${why}. The compaction starts again from the whole conversation.`;
  return new OffstageError("invalid-state", sentence);
}
