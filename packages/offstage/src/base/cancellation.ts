// Cancellation: one abort for a whole run, with one listener however much waits on it. Its signal is made when asked for.
import { keepShape } from "./keep-shape.ts";

interface CancellationOptions {
  /** Whether `abort` may be called, beside the caller's signal. Default true. */
  readonly hasAbort?: boolean;
}

/** A run's own abort: follows the caller's signal, or is told by `abort`. */
export class Cancellation {
  /** Whether it can be aborted at all: where not, nothing needs to listen. */
  readonly isAbortable: boolean;
  readonly #parent: AbortSignal | undefined;
  #waiting: Set<(reason: unknown) => void> | undefined;
  #controller: AbortController | undefined;
  #aborted: { readonly reason: unknown } | undefined;
  readonly #follow: (() => void) | undefined;

  constructor(parent?: AbortSignal, { hasAbort = true }: CancellationOptions = {}) {
    this.isAbortable = hasAbort || parent !== undefined;
    this.#parent = parent;
    if (parent === undefined) return;
    this.#follow = () => this.abort(parent.reason);
    if (parent.aborted) this.abort(parent.reason);
    else parent.addEventListener("abort", this.#follow, { once: true });
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#aborted !== undefined) this.#controller.abort(this.#aborted.reason);
    return this.#controller.signal;
  }

  get isAborted(): boolean {
    return this.#aborted !== undefined;
  }

  /** What it was aborted with. */
  get reason(): unknown {
    return this.#aborted?.reason;
  }

  abort(reason: unknown): void {
    if (this.#aborted !== undefined) return;
    this.#aborted = { reason };
    this.#controller?.abort(reason);
    for (const reject of this.#waiting ?? []) reject(reason);
    this.#waiting = undefined;
  }

  throwIfAborted(): void {
    if (this.#aborted !== undefined) throw this.#aborted.reason;
  }

  /** The work's result, or a rejection with the abort's reason as soon as there is one, whether the work listens or not. */
  race<T>(work: PromiseLike<T>): Promise<T> {
    if (!this.isAbortable) return Promise.resolve(work);
    return new Promise<T>((resolve, reject) => {
      if (this.#aborted !== undefined) reject(this.#aborted.reason);
      this.#waiting ??= new Set();
      this.#waiting.add(reject);
      Promise.resolve(work).then(
        (value) => {
          this.#waiting?.delete(reject);
          resolve(value);
        },
        (error) => {
          this.#waiting?.delete(reject);
          reject(error);
        },
      );
    });
  }

  /** Lets go of the caller's signal. */
  [Symbol.dispose](): void {
    if (this.#follow !== undefined) this.#parent?.removeEventListener("abort", this.#follow);
  }
}

keepShape(new Cancellation());
