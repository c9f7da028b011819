// Values that follow async code, each under a typed slot. All slots share the one AsyncLocalStorage of the process.
import { AsyncLocalStorage } from "node:async_hooks";

/** One value that follows async code: a callback, a timer or a promise sees the value it was started with. */
export interface AsyncScope<Value> {
  /** The value here; undefined outside of any `run`. */
  get(): Value | undefined;
  /** Calls `work` with `value` in place of the current one. The other slots keep theirs. */
  run<Result>(value: Value | undefined, work: () => Result): Result;
}

type Slots = Readonly<Record<string, unknown>>;

// All copies of Offstage in a process share the storage; the number is the version of its shape.
const key: unique symbol = Symbol.for("offstage.async-scope.1");
const holder = globalThis as { [key]?: AsyncLocalStorage<Slots> };
holder[key] ??= new AsyncLocalStorage();
const storage: AsyncLocalStorage<Slots> = holder[key];

/**
 * Makes the slot called `name`. Copies of Offstage that use the same name share its value, so a name ends with the version of
 * the value's shape.
 */
export function asyncScope<Value>(name: string): AsyncScope<Value> {
  return {
    get: () => storage.getStore()?.[name] as Value | undefined,
    run: (value, work) => storage.run({ ...storage.getStore(), [name]: value }, work),
  };
}
