// The one error class of Offstage, and its codes. Failed tools give messages instead, and aborts throw the signal's reason.

/** The kind of an error. Stable: branch on it, never on the message. */
export type ErrorCode =
  | "invalid-argument"
  | "invalid-message"
  | "invalid-state"
  | "invalid-tool"
  | "invalid-format"
  | "unsupported-model"
  | "unpriced-model"
  | "model-failed"
  | "output-mismatch"
  | "no-output"
  | "error-policy"
  | "guardrail-failed"
  | "processor-failed"
  | "criterion-failed"
  | "redactor-failed"
  | "script-exhausted"
  | "script-violation"
  | "stream-consumed"
  | "missing-package"
  | "mcp-failed"
  | "pattern-timeout"
  | "export-failed"
  | "store-failed"
  | "store-closed"
  | "store-corrupt"
  | "store-foreign"
  | "store-locked"
  | "store-read-only"
  | "store-full"
  | "store-gone"
  | "store-connection"
  | "schema-newer"
  | "wrong-key"
  | "session-busy"
  | "session-conflict"
  | "run-failed"
  | "run-exists"
  | "run-not-found"
  | "run-not-resumable";

export interface OffstageErrorOptions {
  /** The error that caused this one. */
  readonly cause?: unknown;
  /** The result so far of a failed run. */
  readonly result?: unknown;
}

const brand: unique symbol = Symbol.for("offstage.error");

/** The error that Offstage throws. Its message says what happened, with what, and what to do. */
export class OffstageError extends Error {
  override readonly name: string = "OffstageError";
  readonly code: ErrorCode;
  /** The `RunResult` so far of a failed run, with its state, steps and usage. */
  readonly result?: unknown;

  constructor(code: ErrorCode, message: string, options: OffstageErrorOptions = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.code = code;
    Object.defineProperty(this, brand, { value: true });
    if (options.result !== undefined)
      Object.defineProperty(this, "result", { value: options.result, enumerable: false });
  }

  /** The fields for logs. JSON of a plain error is `{}`. */
  toJSON(): { name: string; code: ErrorCode; message: string } {
    return { name: this.name, code: this.code, message: this.message };
  }
}

/** True for an OffstageError, even one of another copy of the package. If `code` is passed, the error must have it. */
export function isOffstageError(error: unknown, code?: ErrorCode): error is OffstageError {
  try {
    if (typeof error !== "object" || error === null || !(brand in error)) return false;
    return code === undefined || (error as { code?: unknown }).code === code;
  } catch {
    return false;
  }
}

/** The message of any thrown value. */
export function messageOf(error: unknown): string {
  try {
    if (error instanceof AggregateError) return allMessages(error);
    if (error instanceof Error) return String(error.message || error.name);
    return typeof error === "object" && error !== null ? objectMessage(error) : String(error);
  } catch {
    return "an error that cannot be shown";
  }
}

function allMessages({ message, name, errors }: AggregateError): string {
  return `${message || name}: ${errors.slice(0, 5).map(messageOf).join("; ")}`;
}

// JSON instead of "[object Object]".
function objectMessage(thrown: object): string {
  const { message } = thrown as { message?: unknown };
  if (typeof message === "string" && message !== "") return message;
  const text = String(thrown);
  return text === "[object Object]" ? JSON.stringify(thrown).slice(0, 500) : text;
}
