// A cache of the latest messages of a session, so that the next run need not read them again.
import type { Message } from "../../messages/message.ts";
import { deepFreeze } from "../rows/plain-json.ts";

const mostMessages = 256;
const mostCharacters = 256 * 1024;

/** The cached end of a conversation, bounded. Its messages are deep-frozen because runs share them. */
export interface Tail {
  readonly messages: readonly Message[];
  /** The cache holds the whole conversation. */
  readonly isWhole: boolean;
  /** The total length of its messages as text. */
  readonly size: number;
}

export const emptyTail: Tail = { messages: [], isWhole: true, size: 0 };

/** Caches these messages. */
export function tailOf(messages: readonly Message[], isWhole: boolean): Tail {
  return extendTail({ ...emptyTail, isWhole }, messages);
}

/** Appends messages to the cache; beyond its bounds the older half is dropped. */
export function extendTail(tail: Tail, added: readonly Message[]): Tail {
  const messages = [...tail.messages, ...added.map((message) => deepFreeze(message))];
  const size = added.reduce((sum, message) => sum + sizeOf(message), tail.size);
  if (messages.length <= mostMessages && size <= mostCharacters) return { messages, isWhole: tail.isWhole, size };
  const kept = messages.slice(messages.length >> 1);
  return { messages: kept, isWhole: false, size: size * (kept.length / messages.length) };
}

function sizeOf({ content }: Message): number {
  return typeof content === "string" ? content.length : JSON.stringify(content ?? null).length;
}
