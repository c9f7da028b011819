// The context that all parts of an open store share. No behaviour of its own.

import type { OffstageError } from "../errors.ts";
import type { Holds } from "./hold.ts";
import type { OpenedDriver } from "./opened-driver.ts";
import type { MessageRedactor } from "./redaction.ts";
import type { ListNames } from "./row-keys.ts";

/** Reports a row that cannot be read. If it throws, the read fails; otherwise the row is skipped. */
export type Report = (error: OffstageError) => void;

export interface StoreContext {
  readonly driver: OpenedDriver;
  readonly lists: ListNames;
  /** Identifies this store as the holder of leases. */
  readonly holder: string;
  /** Changes messages before they are written. */
  readonly redact: MessageRedactor | undefined;
  readonly report: Report;
  /** The session that changed last. */
  readonly recent: { sessionId?: string };
  /** The leases that runs of this store hold. */
  readonly holds: Holds;
  /** Makes the id of a new write. */
  operation(): string;
  /** Epoch microseconds, strictly increasing. */
  stamp(): number;
}
