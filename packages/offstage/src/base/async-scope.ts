// Values that follow async code: one AsyncLocalStorage per value, shared by all copies of Offstage in the process.
import { AsyncLocalStorage } from "node:async_hooks";

const holder = globalThis as { [key: symbol]: AsyncLocalStorage<unknown> | undefined };

/**
 * The storage called `name`. A callback, a timer or a promise sees the value it was started with. Copies of Offstage share the
 * storage, so its name ends with the version of the value's shape.
 */
export function asyncScope<Value>(name: string): AsyncLocalStorage<Value | undefined> {
  const key = Symbol.for(`offstage.async-scope.${name}`);
  holder[key] ??= new AsyncLocalStorage();
  return holder[key] as AsyncLocalStorage<Value | undefined>;
}
