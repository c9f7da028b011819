// A session: a conversation with an id. The port that an agent needs, the conveniences of the sessions in this room, and the errors of
// a session that several runs or processes want. Their codes are in errors.ts, like all others.

import { shownValue } from "../../base/options.ts";
import { OffstageError, type OffstageErrorOptions } from "../../errors.ts";
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

/** A message in the inbox of a session. */
export interface PendingMessage {
  readonly seq: number;
  readonly message: Message;
}

/** A message that was said to a session. It is durable. */
export interface SentMessage {
  /** "run" once the run that worked has taken it in; "next" if it waits for the next run, or another run took it. */
  readonly joined: Promise<"run" | "next">;
}

/** A session with conveniences. */
export interface Session extends SessionPort, AsyncDisposable {
  addItem(item: Message): Promise<void>;
  getAllItems(): Promise<Message[]>;
  isEmpty(): Promise<boolean>;
  /**
   * Says something to the agent, at any time and from any process: a run that works takes it in between two steps, otherwise the next
   * run does. Durable when it resolves.
   */
  say(message: string | Message): Promise<SentMessage>;
  /** Queries the conversation together with the tool traces of its runs. */
  query(options?: MessageQueryOptions): Promise<MessageQuery>;
  /** Closes what the session opened. Idempotent. */
  close(): Promise<void>;
}

/** Returns the limit; throws `invalid-argument` unless it is undefined or a whole number of at least 0. */
export function checkLimit(limit: number | undefined, name = "limit"): number | undefined {
  if (limit === undefined || (Number.isSafeInteger(limit) && limit >= 0)) return limit;
  throw new OffstageError(
    "invalid-argument",
    `"${name}" must be a whole number of at least 0; found ${shownValue(limit)}.`,
  );
}

export interface SessionBusyErrorOptions extends OffstageErrorOptions {
  /** An enclosing run holds the session. Default false. */
  readonly isOwn?: boolean | undefined;
}

/** Another run uses the session, and the caller did not want to wait, or waiting would deadlock. */
export class SessionBusyError extends OffstageError {
  override readonly name: string = "SessionBusyError";
  /** An enclosing run holds the session: waiting for it would deadlock. */
  readonly isOwn: boolean;

  constructor(message: string, options: SessionBusyErrorOptions = {}) {
    super("session-busy", message, options);
    this.isOwn = options.isOwn ?? false;
  }
}

/** Another process changed or took over the session; nothing was written. */
export class SessionConflictError extends OffstageError {
  override readonly name: string = "SessionConflictError";

  constructor(message: string, options: OffstageErrorOptions = {}) {
    super("session-conflict", message, options);
  }
}

/** The error for a new session whose id is taken. */
export function existsAlready(sessionId: string): SessionConflictError {
  return new SessionConflictError(`Session "${sessionId}" already exists; nothing was changed. Choose another id.`);
}
