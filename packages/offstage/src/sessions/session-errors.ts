// The two errors of a contested session. Their codes are in errors.ts, like all others.
import { OffstageError, type OffstageErrorOptions } from "../errors.ts";

/** Another run holds the session, and the caller did not want to wait. */
export class SessionBusyError extends OffstageError {
  override readonly name: string = "SessionBusyError";

  constructor(message: string, options: OffstageErrorOptions = {}) {
    super("session-busy", message, options);
  }
}

/** Somebody else changed or took over the session; what was to be written was not. */
export class SessionConflictError extends OffstageError {
  override readonly name: string = "SessionConflictError";

  constructor(message: string, options: OffstageErrorOptions = {}) {
    super("session-conflict", message, options);
  }
}
