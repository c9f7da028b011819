// What can be awaited, whoever made it: promises of other libraries and of other realms are no `Promise`.

/** True for anything with a `then`. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}
