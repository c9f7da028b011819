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
  limiter ??= createLimiter();
  if (limiter === undefined) return work();
  let result: T | undefined;
  try {
    limiter(() => {
      result = work();
    }, timeoutMs);
  } catch (error) {
    throw isTimeout(error) ? late() : error;
  }
  return result as T;
}

type Limiter = (work: () => void, timeoutMs: number) => void;

// One for all work: creating a context takes a hundred times longer than most checks.
let limiter: Limiter | undefined;

function createLimiter(): Limiter | undefined {
  const vm = process.getBuiltinModule?.("node:vm");
  if (vm === undefined) return undefined;
  const globals: { work?: (() => void) | undefined } = {};
  const context = vm.createContext(globals);
  const script = new vm.Script("work()");
  return (work, timeoutMs) => {
    globals.work = work;
    try {
      script.runInContext(context, { timeout: timeoutMs });
    } finally {
      // The context must not keep the work and its values alive.
      globals.work = undefined;
    }
  };
}

function isTimeout(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
}
