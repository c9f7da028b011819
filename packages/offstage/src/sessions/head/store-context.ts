// The context that all parts of an open store share, for one namespace. No behaviour of its own.
import type { Report } from "../rows/check-row.ts";
import type { Content } from "../rows/contents.ts";
import type { MessageRedactor } from "../rows/redaction.ts";
import type { Holds } from "./hold.ts";
import type { NamespaceRows } from "./namespace-rows.ts";

/** Which model inputs a store keeps: all of them, only their hashes, or none. */
export type KeepInput = "all" | "hashes" | false;

export interface StoreContext {
  readonly rows: NamespaceRows;
  /** Identifies this store as the holder of leases. */
  readonly holder: string;
  /** Changes messages before they are written. */
  readonly redact: MessageRedactor | undefined;
  readonly keepInput: KeepInput;
  readonly report: Report;
  /** The leases that runs of this store hold. */
  readonly holds: Holds;
  /** Makes the id of a new write. */
  operation(): string;
  /** The contents of model setups that were stored. */
  readonly setups: WeakMap<object, Content>;
}
