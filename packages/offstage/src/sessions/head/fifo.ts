// A first-in, first-out queue for one place, within a process. Leases do the same between processes.

export interface Fifo {
  /** The function with which the current holder leaves the place; it identifies the holder. Undefined if the place is free. */
  readonly current: (() => void) | undefined;
  /**
   * Takes the place, or the next position in the queue, before it returns. Resolves with the function that leaves the place; leaving
   * twice is harmless. When `signal` is aborted, it leaves the queue and rejects with the signal's reason.
   */
  enter(signal?: AbortSignal): Promise<() => void>;
}

export function fifo(): Fifo {
  // The first one has the place.
  const queue: { readonly leave: () => void; readonly admit: () => void }[] = [];
  return {
    get current() {
      return queue[0]?.leave;
    },
    async enter(signal) {
      signal?.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const leave = (): void => {
        const place = queue.indexOf(entry);
        if (place >= 0) queue.splice(place, 1);
        if (place === 0) queue[0]?.admit();
      };
      const entry = { leave, admit: resolve };
      if (queue.push(entry) === 1) return leave;
      const give = (): void => reject(signal?.reason);
      signal?.addEventListener("abort", give, { once: true });
      try {
        await promise;
        return leave;
      } catch (error) {
        leave();
        throw error;
      } finally {
        signal?.removeEventListener("abort", give);
      }
    },
  };
}
