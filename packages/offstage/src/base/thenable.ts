// Recognises promises, including those of other libraries and realms, which are not instances of `Promise`.

/** True for anything with a `then`. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}
