// Cancellation: the abort of a run. Also tells aborts from other errors, and sets deadlines.

/** The abort of a run. It aborts with the caller's signal, or when `abort()` is called. */
export class Cancellation {
  readonly #controller = new AbortController();
  readonly #parent: AbortSignal | undefined;
  readonly #follow = (): void => this.abort(this.#parent?.reason);
  // One listener per run, not one per race: Node warns of a leak if a signal has many listeners.
  readonly #waiting = new Set<(reason: unknown) => void>();
  readonly signal: AbortSignal = this.#controller.signal;

  constructor(parent?: AbortSignal) {
    this.#parent = parent;
    if (parent?.aborted) this.abort(parent.reason);
    else parent?.addEventListener("abort", this.#follow, { once: true });
  }

  abort(reason: unknown): void {
    if (this.signal.aborted) return;
    this.#controller.abort(reason);
    for (const reject of this.#waiting) reject(this.signal.reason);
    this.#waiting.clear();
  }

  /**
   * Settles as the work does, or rejects with the abort's reason as soon as there is one, even if the work ignores it. `early` is given a
   * function that resolves it before.
   */
  race<T>(work: T | PromiseLike<T>, early?: (resolve: (value: T) => void) => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.signal.aborted) reject(this.signal.reason);
      this.#waiting.add(reject);
      const succeed = (value: T) => {
        this.#waiting.delete(reject);
        resolve(value);
      };
      const fail = (error: unknown) => {
        this.#waiting.delete(reject);
        reject(error);
      };
      early?.(succeed);
      Promise.resolve(work).then(succeed, fail);
    });
  }

  /** Stops following the caller's signal. */
  [Symbol.dispose](): void {
    this.#parent?.removeEventListener("abort", this.#follow);
  }
}

/** True if `error` means "stopped on purpose": an AbortError, or the reason of the aborted `signal`. */
export function isAbort(error: unknown, signal?: AbortSignal): boolean {
  if (signal?.aborted === true && error === signal.reason) return true;
  return errorType(error) === "AbortError";
}

/** The class of a thrown value, or its code if it is an OffstageError. Never its message. */
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

export interface DeadlineOptions {
  readonly timeoutMs: number;
  /** Names the work in the error. */
  readonly what: string;
  /** Whether the timer keeps the process alive. */
  readonly holdsProcess: boolean;
}

/** Resolves as `action` does, or rejects with a TimeoutError after `timeoutMs`. Does not stop `action`; leaves no timer behind. */
export async function withDeadline<T>(action: () => T | Promise<T>, options: DeadlineOptions): Promise<T> {
  const { timeoutMs, what, holdsProcess } = options;
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    const error = new DOMException(`The ${what} took longer than ${timeoutMs} ms.`, "TimeoutError");
    timer = setTimeout(() => reject(error), timeoutMs);
    // Some runtimes return a number.
    if (!holdsProcess) timer.unref?.();
  });
  try {
    return await Promise.race([action(), tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
