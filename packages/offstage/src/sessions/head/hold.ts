// The leases that runs of a store hold: renewed regularly, and released when a run or the store ends. Acquiring one is in lease.ts.
import { withDeadline } from "../../base/cancellation.ts";
import { renewMs } from "./holder.ts";

/** How long closing waits for a store that does not answer. Leases expire on their own. */
const closeMs = 5_000;

/** A lease that a run holds. */
export interface Hold {
  renew(): Promise<void>;
  release(): Promise<void>;
}

/** All leases of a store. One timer renews them; it does not keep the process alive. */
export interface Holds {
  /** The store is closed: no more leases may be acquired. */
  isClosed: boolean;
  add(hold: Hold): void;
  remove(hold: Hold): void;
  /** Makes `close` wait for `work`: a lease that is being acquired, or a change that was requested. */
  expect(work: Promise<unknown>): void;
  /** Waits for expected work, and releases all leases, including those acquired meanwhile. Never rejects. */
  close(): Promise<void>;
}

export function holdsOf(): Holds {
  const held = new Set<Hold>();
  const expected = new Set<Promise<unknown>>();
  let timer: NodeJS.Timeout | undefined;
  const renewAll = (): void => {
    // If a renewal fails, so will the next write of the run.
    for (const hold of held) hold.renew().catch(() => {});
  };
  const expect = (work: Promise<unknown>): void => {
    const settle = (): void => void expected.delete(work);
    expected.add(work);
    work.then(settle, settle);
  };
  const holds: Holds = {
    isClosed: false,
    add: (hold) => {
      held.add(hold);
      // The lease was being acquired when the store was closed.
      if (holds.isClosed) expect(hold.release());
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
      holds.isClosed = true;
      clearInterval(timer);
      timer = undefined;
      for (const hold of held) expect(hold.release());
      const settled = async (): Promise<void> => {
        // Releasing a lease admits the next run in the queue, which then fails because the store is closed.
        while (expected.size > 0) await Promise.allSettled(expected);
      };
      await withDeadline(settled, { timeoutMs: closeMs, what: "store", holdsProcess: true }).catch(() => {});
    },
  };
  return holds;
}
