// The store driver port: ordered rows in named lists, and one atomic conditional write. A driver does not know what rows mean.

/** The place of a row. Names of lists and keys are printable ASCII without blanks. */
export interface RowPlace {
  readonly list: string;
  readonly key: string;
}

export interface Row {
  readonly key: string;
  readonly value: string;
  /** The back end detected that the value is not the one that was written. */
  readonly damaged?: boolean | undefined;
}

/** A condition: the row has exactly this value; if `value` is undefined, there is no such row. */
export interface Check extends RowPlace {
  readonly value: string | undefined;
}

/** Puts a row, removes a row (no `value`), or removes a whole list (no `key`). */
export interface Write {
  readonly list: string;
  readonly key?: string | undefined;
  readonly value?: string | undefined;
}

/** The purposes of writes. Tests use them to name the moments at which a process can die. */
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

/** Undefined if everything was written. If a check failed: the current row of every check, in order. */
export type Refused = readonly (Row | undefined)[] | undefined;

/** A part of a list, in key order. */
export interface RowRange {
  /** The lowest key, inclusive. */
  readonly from?: string | undefined;
  /** The highest key, exclusive. */
  readonly before?: string | undefined;
  readonly limit?: number | undefined;
  /** Order from the highest key to the lowest. The limit then counts from the highest. */
  readonly reverse?: boolean | undefined;
}

/**
 * A back end. Values are any well-formed text without NUL; keys are ordered by their bytes.
 *
 * **Contract:**
 * - `open` resolves with the schema version found, 0 for a new place, and writes nothing. It rejects with `store-foreign` if
 *   the place belongs to another program.
 * - `prepare` creates what is missing and records the version; several processes may call it at the same time.
 * - `get` and `read` are each one consistent snapshot.
 * - `commit` is atomic, and durable when it resolves. If a check fails, nothing is written, and it resolves with the current
 *   row of every check, in order. No two writes of a commit touch the same row, except that a list may be removed before rows
 *   are put in it.
 * - `close` is idempotent; `open` may follow it.
 * - Methods reject, and never throw, with `OffstageError`s. Only `store-connection` means that the outcome is unknown and that
 *   the call may be repeated.
 */
export interface StoreDriver {
  /** The place, as errors name it: `SQLite file "/a/b.db"`. Never contains a password. */
  readonly name: string;
  open(): Promise<number>;
  prepare(version: number): Promise<void>;
  get(places: readonly RowPlace[]): Promise<(Row | undefined)[]>;
  read(list: string, range?: RowRange): Promise<Row[]>;
  commit(commit: Commit): Promise<Refused>;
  close(): Promise<void>;
}
