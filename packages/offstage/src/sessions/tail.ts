// Tail: the latest messages of a session as this process last wrote or read them, so that the next run need not read them again.
import type { Message } from "../messages/message.ts";
import { deepFreeze } from "./plain-json.ts";

const mostMessages = 256;
const mostCharacters = 256 * 1024;

/** A bounded window on the end of a conversation. Its messages are frozen, since every run that starts from it shares them. */
export interface Tail {
  readonly messages: readonly Message[];
  /** The window holds the whole conversation. */
  readonly isWhole: boolean;
  /** The length of its messages as text. */
  readonly size: number;
}

export const emptyTail: Tail = { messages: [], isWhole: true, size: 0 };

/** A message as it is stored. */
export interface StoredMessage {
  /** A copy of its own, frozen or to be frozen. */
  readonly message: Message;
  readonly text: string;
}

/** These messages as a window. */
export function tailOf(stored: readonly StoredMessage[], isWhole: boolean): Tail {
  return extendTail({ ...emptyTail, isWhole }, stored);
}

/** The window with further messages; past its bounds the older half is let go. */
export function extendTail(tail: Tail, stored: readonly StoredMessage[]): Tail {
  const messages = tail.messages.slice();
  let { size } = tail;
  for (let i = 0; i < stored.length; i++) {
    const { message, text } = stored[i] as StoredMessage;
    messages.push(deepFreeze(message));
    size += text.length;
  }
  if (messages.length <= mostMessages && size <= mostCharacters) return { messages, isWhole: tail.isWhole, size };
  const kept = messages.slice(messages.length >> 1);
  return { messages: kept, isWhole: false, size: size * (kept.length / messages.length) };
}
