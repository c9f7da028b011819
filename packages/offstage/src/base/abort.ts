// What a thrown value says about the operation it ended. Not the error classes.

/** True where `error` means "stopped on purpose": an AbortError, or the reason of the aborted `signal`. */
export function isAbort(error: unknown, signal?: AbortSignal): boolean {
  if (signal?.aborted === true && error === signal.reason) return true;
  return errorType(error) === "AbortError";
}

/** The class or code of a thrown value: an identifier, never its sentence. */
export function errorType(error: unknown): string {
  if (typeof error !== "object" || error === null) return typeof error;
  try {
    const { code, name } = error as { code?: unknown; name?: unknown };
    if (name === "OffstageError" && typeof code === "string") return code;
    return typeof name === "string" && name !== "" ? name : "Error";
  } catch {
    return "Error";
  }
}
