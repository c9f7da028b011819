// A time limit for synchronous work that cannot be interrupted otherwise, such as a regular expression that backtracks.
import type { OffstageError } from "../errors.ts";

export interface WithinTimeOptions {
  readonly timeoutMs: number;
  /** Makes the error for work that takes longer. */
  readonly late: () => OffstageError;
}

/**
 * Returns the result of the work. Throws the error of `late()` if it takes longer than `timeoutMs`. Without `node:vm` the
 * runtime cannot stop the work, so there is no limit.
 */
export function withinTime<T>(work: () => T, { timeoutMs, late }: WithinTimeOptions): T {
  const vm = process.getBuiltinModule?.("node:vm");
  if (vm === undefined) return work();
  let result: T | undefined;
  const context = vm.createContext({
    work: () => {
      result = work();
    },
  });
  try {
    new vm.Script("work()").runInContext(context, { timeout: timeoutMs });
  } catch (error) {
    throw isTimeout(error) ? late() : error;
  }
  return result as T;
}

function isTimeout(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
}
