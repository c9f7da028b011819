// A session: a conversation with an id. The port that an agent needs, and the conveniences of the sessions in this room.
import type { Message } from "../../messages/message.ts";
import type { MessageQuery, MessageQueryOptions } from "../../query/message-query.ts";

/**
 * The five methods that an agent needs.
 *
 * **Contract:** `getItems(limit)` resolves with the latest `limit` items, oldest first (`undefined` is all, `0` is none, any
 * other value than a non-negative integer rejects with `invalid-argument`). `addItems` is all or nothing and keeps order. `popItem` removes the newest.
 * Items are returned exactly as they were added, as fresh plain copies.
 */
export interface SessionPort {
  readonly sessionId: string;
  getItems(limit?: number): Promise<Message[]>;
  addItems(items: readonly Message[]): Promise<void>;
  popItem(): Promise<Message | undefined>;
  clearSession(): Promise<void>;
  getItemCount(): Promise<number>;
}

/** A session with conveniences. */
export interface Session extends SessionPort, AsyncDisposable {
  addItem(item: Message): Promise<void>;
  getAllItems(): Promise<Message[]>;
  isEmpty(): Promise<boolean>;
  /** Queries the conversation together with the tool traces of its runs. */
  query(options?: MessageQueryOptions): Promise<MessageQuery>;
  /** Closes what the session opened. Idempotent. */
  close(): Promise<void>;
}
