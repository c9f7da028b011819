// AgentMemory: the port of a policy that turns messages into context for a model. Not a session: what was said is kept there.
import type { Message } from "../messages/message.ts";

/**
 * What an agent knows of earlier messages, and how much of it a model is shown.
 *
 * **Contract:** what is shown takes at most `tokenLimit` tokens (undefined: no limit; anything but a whole number from 0 a
 * `invalid-argument`), in the order in which it was added. The newest turn is never left out: where it does not fit, its user
 * message stays, clipped and marked if need be, unless there is no room even for the mark. A tool call and its result are
 * shown together or not at all. The same calls in the same order give the same answers. Messages are never changed; one
 * that is shown in another form is marked `isClipped` or `isSummary` in its metadata.
 */
export interface AgentMemory {
  /** Takes one message, or several, as the newest. Rejects with `invalid-message` and takes none where one is not valid. */
  add(message: Message | readonly Message[]): Promise<void>;
  /** What to know for a query, as text. */
  getContext(query: string, tokenLimit?: number): Promise<string>;
  /** The same as messages, ready for a model. */
  getMessages(query: string, tokenLimit?: number): Promise<Message[]>;
  /** Everything that is held, oldest first. */
  getAllMessages(): Promise<Message[]>;
  /** Forgets everything. */
  clear(): Promise<void>;
  /** How many messages are held. Await it: a memory may have to ask. */
  readonly count: number | PromiseLike<number>;
}
