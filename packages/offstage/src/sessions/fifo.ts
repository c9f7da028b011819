// Fifo: one at a time, in the order of asking. Within a process; leases do the same between processes.

export interface EnterOptions {
  /** Leaves the queue when aborted; one that is aborted already makes `enter` throw its reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * A queue for one place. `enter` returns the function that leaves it: at once where the place is free, else by a promise.
 * Leaving twice is harmless.
 */
export interface Fifo {
  readonly isHeld: boolean;
  /** The leave function of whoever has the place now; it tells who that is. */
  readonly current: (() => void) | undefined;
  enter(options?: EnterOptions): (() => void) | Promise<() => void>;
}

export function fifo(): Fifo {
  const waiting: (() => void)[] = [];
  let isHeld = false;
  let current: (() => void) | undefined;
  const take = (): (() => void) => {
    const leave = (): void => {
      // Once: another has the place by now, or nobody.
      if (current !== leave) return;
      current = undefined;
      const next = waiting.shift();
      if (next === undefined) isHeld = false;
      else next();
    };
    isHeld = true;
    current = leave;
    return leave;
  };
  return {
    get isHeld() {
      return isHeld;
    },
    get current() {
      return current;
    },
    enter({ signal } = {}) {
      signal?.throwIfAborted();
      return isHeld ? turnIn(waiting, signal).then(take) : take();
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
