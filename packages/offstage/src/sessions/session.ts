// Session: a conversation with an id. The port an agent needs, and the conveniences every session of ours has.
import type { Message } from "../messages/message.ts";
import type { MessageQuery, MessageQueryOptions } from "../query/message-query.ts";

/**
 * The five methods an agent needs of a session.
 *
 * **Contract:** `getItems(limit)` gives the latest `limit` items, oldest first (`undefined` all, `0` none, anything but
 * a non-negative integer `invalid-argument`). `addItems` is all or nothing and keeps order. `popItem` removes the newest.
 * Items come back exactly as they were added, as fresh plain copies.
 */
export interface SessionPort {
  readonly sessionId: string;
  getItems(limit?: number): Promise<Message[]>;
  addItems(items: readonly Message[]): Promise<void>;
  popItem(): Promise<Message | undefined>;
  clearSession(): Promise<void>;
  getItemCount(): Promise<number>;
}

/** A session with its conveniences. */
export interface Session extends SessionPort, AsyncDisposable {
  addItem(item: Message): Promise<void>;
  getAllItems(): Promise<Message[]>;
  isEmpty(): Promise<boolean>;
  /** Asks about the conversation and the tool traces of its runs together. */
  query(options?: MessageQueryOptions): Promise<MessageQuery>;
  /** Lets go of what the session holds; idempotent. */
  close(): Promise<void>;
}
