// AgentMemory: the port of a policy that turns messages into context for a model. Not a session, which keeps the conversation.
import type { Message } from "../messages/message.ts";

/**
 * Remembers messages and chooses which of them a model sees.
 *
 * **Contract:** the context takes at most `tokenLimit` tokens and keeps the order in which messages were added. An undefined
 * limit is no limit; anything else but a whole number of at least 0 rejects with `invalid-argument`. The newest turn is always
 * part of the context: if it does not fit, its user message stays and is clipped, unless the limit is too small even for
 * the mark "[clipped, …]". A tool call and its result appear together or not at all. The same calls in the same order give
 * the same results. Messages are never changed; a message in another form is marked `isClipped` or `isSummary`.
 */
export interface AgentMemory {
  /** Adds one message or several as the newest. Rejects with `invalid-message`, and adds none, if one is not valid. */
  add(message: Message | readonly Message[]): Promise<void>;
  /** The context for a query, as text. */
  getContext(query: string, tokenLimit?: number): Promise<string>;
  /** The context for a query, as messages for a model. */
  getMessages(query: string, tokenLimit?: number): Promise<Message[]>;
  /** All messages, oldest first. */
  getAllMessages(): Promise<Message[]>;
  /** Removes all messages. */
  clear(): Promise<void>;
  /** How many messages there are. Await it: your own memory may have to ask a store. */
  readonly count: number | PromiseLike<number>;
}
