// What every part of an open store knows: where rows are, who we are, whom to tell. No behaviour of its own.

import { clockOffsetMs } from "../base/clock.ts";
import type { OffstageError } from "../errors.ts";
import type { Holds } from "./hold.ts";
import type { OpenedDriver } from "./opened-driver.ts";
import type { MessageRedactor } from "./redaction.ts";
import type { ListNames } from "./row-keys.ts";

/** Told of what cannot be read; one that throws does not let it be passed over. */
export type Report = (error: OffstageError) => void;

export interface StoreContext {
  readonly driver: OpenedDriver;
  readonly lists: ListNames;
  /** This store as the holder of leases. */
  readonly holder: string;
  /** What a message becomes before it is written. */
  readonly redact: MessageRedactor | undefined;
  /** Tells of a row that cannot be read, or a lease that could not be renewed. */
  readonly report: Report;
  /** The session that was touched last. */
  readonly recent: { sessionId?: string };
  /** The sessions that runs of this store hold. */
  readonly holds: Holds;
  /** A new id for a write. */
  operation(): string;
  /** Epoch microseconds, each later than the one before. */
  stamp(): number;
}

/** A clock of epoch microseconds that never gives the same twice. */
export function stampClock(): () => number {
  let last = 0;
  return () => {
    const now = performance.now();
    last = Math.max(last + 1, Math.trunc((clockOffsetMs(now) + now) * 1000));
    return last;
  };
}
