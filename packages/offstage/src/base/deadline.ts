// Waiting no longer than a deadline. The work itself is not stopped; nobody waits for it any more.

export interface DeadlineOptions {
  readonly timeoutMs: number;
  /** Names the work in the error. */
  readonly what: string;
  /** Whether the process stays alive for the deadline. */
  readonly holdsProcess: boolean;
}

/** What `action` gives, or a TimeoutError after `timeoutMs`. Leaves no timer behind. */
export async function withDeadline<T>(action: () => T | Promise<T>, options: DeadlineOptions): Promise<T> {
  const { timeoutMs, what, holdsProcess } = options;
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    const error = new DOMException(
      `The ${what} took longer than ${timeoutMs} ms; nobody waits for it any more.`,
      "TimeoutError",
    );
    timer = setTimeout(() => reject(error), timeoutMs);
    if (!holdsProcess) timer.unref();
  });
  try {
    return await Promise.race([action(), tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
