// Errors that must not stop the work: they go to a listener, by default a printed warning.
import { warn } from "../base/warn.ts";
import { messageOf } from "../errors.ts";

/** Receives errors that were handled, such as a summariser that failed. */
export type OnError = (error: unknown) => void;

/** The default listener: prints a warning. */
export function printError(error: unknown): void {
  warn(`A memory continued after an error: ${messageOf(error)}`);
}

/** Calls the listener. A listener that throws or rejects is printed. */
export function reportError(onError: OnError, error: unknown): void {
  void (async () => onError(error))().catch(printError);
}
