// A time limit on work that cannot be interrupted otherwise, such as a pattern that backtracks for ever. Synchronous.
import type { OffstageError } from "../errors.ts";

export interface WithinTimeOptions {
  readonly timeoutMs: number;
  /** Makes the error for work that takes longer. */
  readonly late: () => OffstageError;
}

/** What the work returns; throws the error `late()` makes when it takes longer than `timeoutMs`. */
export function withinTime<T>(work: () => T, { timeoutMs, late }: WithinTimeOptions): T {
  const { createContext, Script } = process.getBuiltinModule("node:vm");
  let result: T | undefined;
  const context = createContext({
    work: () => {
      result = work();
    },
  });
  try {
    new Script("work()").runInContext(context, { timeout: timeoutMs });
  } catch (error) {
    throw isTimeout(error) ? late() : error;
  }
  return result as T;
}

function isTimeout(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
}
