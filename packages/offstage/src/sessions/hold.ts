// Holds: the sessions that runs of a store hold, kept by signs of life and given up when a run or the store ends. Taking one is in lease.ts.
import { renewMs } from "./holder.ts";

/** A session that is held. */
export interface Hold {
  /** Shows that its run is alive. */
  renew(): Promise<void>;
  /** Gives it up. */
  release(): Promise<void>;
}

/** All sessions that are held. One timer serves them; it keeps no process alive. */
export interface Holds {
  /** They were given up because the store is closed. */
  readonly isClosed: boolean;
  add(hold: Hold): void;
  remove(hold: Hold): void;
  /** Gives up all of them. Never rejects. */
  close(): Promise<void>;
}

export function holdsOf(): Holds {
  const held = new Set<Hold>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const renewAll = (): void => {
    // A renewal that fails shows at the run's next write.
    for (const hold of held) hold.renew().catch(() => {});
  };
  return {
    get isClosed() {
      return isClosed;
    },
    add: (hold) => {
      held.add(hold);
      timer ??= setInterval(renewAll, renewMs).unref();
    },
    remove: (hold) => {
      held.delete(hold);
    },
    close: async () => {
      isClosed = true;
      clearInterval(timer);
      timer = undefined;
      await Promise.allSettled(Array.from(held, (hold) => hold.release()));
      held.clear();
    },
  };
}
