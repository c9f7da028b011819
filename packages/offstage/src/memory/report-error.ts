// What happens to an error that must not stop anything: it goes to whoever listens, or is printed.
import { messageOf } from "../errors.ts";

/** Told of failures that were dealt with. */
export type OnError = (error: unknown) => void;

/** The default listener: prints. */
export function printError(error: unknown): void {
  // biome-ignore lint/suspicious/noConsole: nothing is swallowed; this is the default of onError
  console.error(`offstage: memory went on after an error: ${messageOf(error)}`);
}

/** Tells a listener, whatever it does. */
export function tell(onError: OnError, error: unknown): void {
  try {
    onError(error);
  } catch (failure) {
    printError(failure);
  }
}
