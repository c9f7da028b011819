// Holds: the sessions that runs of a store hold, kept by signs of life and given up when a run or the store ends. Taking one is in lease.ts.
import { withDeadline } from "../base/cancellation.ts";
import { renewMs } from "./holder.ts";

/** How long a store that does not answer keeps its closing waiting; leases run out by themselves. */
const closeMs = 5_000;

/** A session that is held. */
export interface Hold {
  /** Shows that its run is alive. */
  renew(): Promise<void>;
  /** Gives it up. */
  release(): Promise<void>;
}

/** All sessions that are held. One timer serves them; it keeps no process alive. */
export interface Holds {
  /** They were given up because the store is closed; no more are to be taken. */
  readonly isClosed: boolean;
  add(hold: Hold): void;
  remove(hold: Hold): void;
  /** A session is being taken: what comes of it is waited for before the store closes. */
  expect(taking: Promise<unknown>): void;
  /** Gives up all of them, and those that are being taken. Never rejects. */
  close(): Promise<void>;
}

export function holdsOf(): Holds {
  const held = new Set<Hold>();
  const expected = new Set<Promise<unknown>>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const renewAll = (): void => {
    // A renewal that fails shows at the run's next write.
    for (const hold of held) hold.renew().catch(() => {});
  };
  const expect = (work: Promise<unknown>): void => {
    const settle = (): void => void expected.delete(work);
    expected.add(work);
    work.then(settle, settle);
  };
  return {
    get isClosed() {
      return isClosed;
    },
    add: (hold) => {
      held.add(hold);
      // Its first write was under way when the store was closed.
      if (isClosed) expect(hold.release());
      else if (timer === undefined) {
        timer = setInterval(renewAll, renewMs);
        // Some runtimes return a number.
        timer.unref?.();
      }
    },
    remove: (hold) => {
      held.delete(hold);
    },
    expect,
    close: async () => {
      isClosed = true;
      clearInterval(timer);
      timer = undefined;
      for (const hold of held) expect(hold.release());
      const settled = async (): Promise<void> => {
        // One that is given up lets in the next of its queue, which is refused.
        while (expected.size > 0) await Promise.allSettled(expected);
      };
      await withDeadline(settled, { timeoutMs: closeMs, what: "store", holdsProcess: true }).catch(() => {});
    },
  };
}
