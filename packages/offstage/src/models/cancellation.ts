// Cancellation: one abort controller for a whole run, with one listener however much waits on it.

/** A run's own signal: aborts with the caller's, or by `abort`. */
export class Cancellation {
  readonly #controller = new AbortController();
  readonly #waiting = new Set<(reason: unknown) => void>();
  readonly #parent: AbortSignal | undefined;
  readonly #follow = () => this.abort(this.#parent?.reason);

  constructor(parent?: AbortSignal) {
    this.#parent = parent;
    if (parent?.aborted) this.abort(parent.reason);
    else parent?.addEventListener("abort", this.#follow, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isAborted(): boolean {
    return this.#controller.signal.aborted;
  }

  abort(reason?: unknown): void {
    if (this.isAborted) return;
    this.#controller.abort(reason);
    for (const reject of this.#waiting) reject(this.signal.reason);
    this.#waiting.clear();
  }

  throwIfAborted(): void {
    if (this.isAborted) throw this.signal.reason;
  }

  /** The work's result, or a rejection with the abort's reason as soon as there is one, whether the work listens or not. */
  race<T>(work: PromiseLike<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.isAborted) reject(this.signal.reason);
      this.#waiting.add(reject);
      work.then(
        (value) => {
          this.#waiting.delete(reject);
          resolve(value);
        },
        (error) => {
          this.#waiting.delete(reject);
          reject(error);
        },
      );
    });
  }

  /** Lets go of the caller's signal. */
  [Symbol.dispose](): void {
    this.#parent?.removeEventListener("abort", this.#follow);
  }
}
