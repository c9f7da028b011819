// Polling: for changes that no one announces, such as those of another process in a store.
import { setTimeout as sleep } from "node:timers/promises";

export interface PollOptions {
  /** The first pause. Each later one is longer by half. */
  readonly firstMs: number;
  readonly longestMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Asks until the answer is not undefined, and resolves with it. Rejects with the reason of `signal` when it aborts. */
export async function poll<Value>(
  ask: () => Promise<Value | undefined>,
  { firstMs, longestMs, signal }: PollOptions,
): Promise<Value> {
  for (let pauseMs = firstMs; ; pauseMs = Math.min(pauseMs * 1.5, longestMs)) {
    signal?.throwIfAborted();
    const answer = await ask();
    if (answer !== undefined) return answer;
    await sleep(pauseMs, undefined, signal && { signal }).catch(() => signal?.throwIfAborted());
  }
}
