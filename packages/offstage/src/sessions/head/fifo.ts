// A first-in, first-out queue for one place, within a process. Leases do the same between processes.

export interface EnterOptions {
  /** Leaves the queue when aborted; `enter` then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * A queue for one place. The call of `enter` takes a free place, or the next position in the queue, before it returns; its
 * promise resolves with the function that leaves the place. Leaving twice is harmless.
 */
export interface Fifo {
  readonly isHeld: boolean;
  /** The release function of the current holder; it identifies the holder. */
  readonly current: (() => void) | undefined;
  enter(options?: EnterOptions): Promise<() => void>;
}

export function fifo(): Fifo {
  const waiting: (() => void)[] = [];
  let isHeld = false;
  let current: (() => void) | undefined;
  const take = (): (() => void) => {
    const release = (): void => {
      // A second call: the place has another holder by now, or none.
      if (current !== release) return;
      current = undefined;
      const next = waiting.shift();
      if (next === undefined) isHeld = false;
      else next();
    };
    isHeld = true;
    current = release;
    return release;
  };
  return {
    get isHeld() {
      return isHeld;
    },
    get current() {
      return current;
    },
    async enter({ signal } = {}) {
      signal?.throwIfAborted();
      if (isHeld) await turnIn(waiting, signal);
      return take();
    },
  };
}

function turnIn(waiting: (() => void)[], signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const proceed = (): void => {
      signal?.removeEventListener("abort", give);
      resolve();
    };
    const give = (): void => {
      waiting.splice(waiting.indexOf(proceed), 1);
      reject(signal?.reason);
    };
    waiting.push(proceed);
    signal?.addEventListener("abort", give, { once: true });
  });
}
