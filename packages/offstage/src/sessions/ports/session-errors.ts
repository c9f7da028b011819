// The two errors of a session that several runs or processes want. Their codes are in errors.ts, like all others.
import { OffstageError, type OffstageErrorOptions } from "../../errors.ts";

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
