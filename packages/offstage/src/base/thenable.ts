// Thenables: values that can be awaited. Promises of other libraries and realms are no instances of `Promise`.

/** True for anything with a `then`. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}
