// The port of a back end: ordered rows in named lists, and one atomic conditional write. What the rows mean is policy, above it.

/** Where a row is. Names and keys are printable ASCII without blanks. */
export interface RowPlace {
  readonly list: string;
  readonly key: string;
}

export interface Row {
  readonly key: string;
  readonly value: string;
  /** The back end noticed that this is not what was written. */
  readonly damaged?: boolean;
}

/** A condition: the row has exactly this value, or is absent where the value is undefined. */
export interface Check extends RowPlace {
  readonly value: string | undefined;
}

/** Puts a row, removes one (no `value`), or removes a whole list (no `key`). */
export interface Write {
  readonly list: string;
  readonly key?: string;
  readonly value?: string;
}

/** What writes are for: the names of the moments at which a process can die. */
export const writeLabels = [
  "run.begin",
  "run.child",
  "tool.intent",
  "tool.wait",
  "tool.result",
  "step.commit",
  "run.end",
  "run.abandon",
  "lease.renew",
  "lease.wait",
  "session.add",
  "session.pop",
  "session.clear",
  "session.replace",
  "session.branch",
  "session.delete",
  "spans.add",
  "store.migrate",
] as const;

export type WriteLabel = (typeof writeLabels)[number];

export interface Commit {
  readonly label: WriteLabel;
  readonly checks: readonly Check[];
  readonly writes: readonly Write[];
}

/** The current row of every check, where one of them failed; undefined where all was written. */
export type Refused = readonly (Row | undefined)[] | undefined;

/** A part of a list, in key order. */
export interface RowRange {
  /** The first key, inclusive. */
  readonly from?: string;
  /** The end, exclusive. */
  readonly before?: string;
  readonly limit?: number;
  /** From the last key to the first. */
  readonly reverse?: boolean;
}

/**
 * A back end. Values are any well-formed text without NUL; keys order by their bytes.
 *
 * **Contract:** `open` gives the schema version found, 0 for a new place, and writes nothing; it refuses what is not
 * ours with `store-foreign`. `prepare` makes what is missing and records the version; two processes may do so at once.
 * `read` and `get` are each one consistent snapshot. `commit` is all or nothing, takes effect at one moment, and is
 * durable when it resolves; where a check fails nothing is written and it gives the current row of every check, in
 * order. No two writes of a commit touch the same row, except that a list may be removed before rows are put in it. Methods
 * reject, and never throw, with `OffstageError`s; only `store-connection` means that the outcome is unknown and that the
 * call may be repeated.
 * `close` is idempotent, and `open` may follow it.
 */
export interface StoreDriver {
  /** How errors call the place: `SQLite file "/a/b.db"`. Never holds a password. */
  readonly name: string;
  open(): Promise<number>;
  prepare(version: number): Promise<void>;
  get(places: readonly RowPlace[]): Promise<(Row | undefined)[]>;
  read(list: string, range?: RowRange): Promise<Row[]>;
  commit(commit: Commit): Promise<Refused>;
  close(): Promise<void>;
}
