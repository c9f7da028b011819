// Values that follow async code, each under a typed slot of its own.
import { AsyncLocalStorage } from "node:async_hooks";

/** One value that follows async code: a callback, a timer or a promise sees the value it was started with. */
export interface AsyncScope<Value> {
  /** The value here; undefined outside of any `run`. */
  get(): Value | undefined;
  /** Calls `work` with `value` in place of the current one. Other slots keep theirs. */
  run<Result>(value: Value | undefined, work: () => Result): Result;
}

const holder = globalThis as { [key: symbol]: AsyncLocalStorage<unknown> | undefined };

/**
 * Makes the slot called `name`. Copies of Offstage that use the same name share its value, so a name ends with the version of
 * the value's shape.
 */
export function asyncScope<Value>(name: string): AsyncScope<Value> {
  const key = Symbol.for(`offstage.async-scope.${name}`);
  holder[key] ??= new AsyncLocalStorage();
  const storage = holder[key] as AsyncLocalStorage<Value | undefined>;
  return {
    get: () => storage.getStore(),
    run: (value, work) => storage.run(value, work),
  };
}
