// The two errors of a contested session. Their codes are in errors.ts, like all others.
import { OffstageError, type OffstageErrorOptions } from "../errors.ts";

export interface SessionBusyErrorOptions extends OffstageErrorOptions {
  /** The run that holds the session is the one that asks for it. Default false. */
  readonly isOwn?: boolean;
}

/** Another run holds the session and the caller did not want to wait, or would have waited for itself. */
export class SessionBusyError extends OffstageError {
  override readonly name: string = "SessionBusyError";
  /** The run that holds the session is the one that asked for it, or one around it: waiting would never end. */
  readonly isOwn: boolean;

  constructor(message: string, options: SessionBusyErrorOptions = {}) {
    super("session-busy", message, options);
    this.isOwn = options.isOwn ?? false;
  }
}

/** Somebody else changed or took over the session; what was to be written was not. */
export class SessionConflictError extends OffstageError {
  override readonly name: string = "SessionConflictError";

  constructor(message: string, options: OffstageErrorOptions = {}) {
    super("session-conflict", message, options);
  }
}

/** The error where a new session is to have the id of one that is there. */
export function existsAlready(sessionId: string): SessionConflictError {
  return new SessionConflictError(`A session "${sessionId}" exists already; nothing was changed.`);
}
