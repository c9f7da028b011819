// The note of a compaction: plain JSON by which a later run, or the same one taken up again, shows what this one showed.

import { isObject } from "../../base/json.ts";
import { OffstageError } from "../../errors.ts";
import { parseMessages } from "../../messages/codec.ts";
import type { PartNote } from "./compacted-part.ts";

const version = 1;

export interface CompactionNote {
  readonly version: number;
  readonly conversation: PartNote;
  /** Of the tool trace, where that was made shorter too. */
  readonly trace?: PartNote;
}

/** The note of two parts. */
export function writeNote(conversation: PartNote, trace: PartNote | undefined): CompactionNote {
  return { version, conversation, ...(trace === undefined ? undefined : { trace }) };
}

/** The note that was written; throws `invalid-state` or `invalid-message` where it is none, or a newer one. */
export function readNote(value: unknown): CompactionNote {
  if (!isObject(value) || !Number.isInteger(value.version)) throw invalid("it is no note of a compaction");
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
  return new OffstageError("invalid-state", `A compaction cannot go on from this note: ${why}. It begins anew.`);
}
