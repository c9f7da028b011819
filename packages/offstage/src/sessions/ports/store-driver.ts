// The store driver port: typed rows of named tables, in order, and one atomic conditional write. A driver does not know what rows
// mean; the tables are in tables.ts.
import type { TableName } from "./tables.ts";

/** The value of a column. Times and JSON are text. */
export type Value = string | number | boolean | null;

/** A row: the value of each column of its table. */
export type Row = Readonly<Record<string, Value>>;

/** The values of the key columns of a row: those of its scope, then those that order it. */
export type Key = readonly (string | number)[];

export interface RowPlace {
  readonly table: TableName;
  readonly key: Key;
}

/** A condition: the row has these values in these columns; without `where`, there is no such row. */
export interface Check extends RowPlace {
  readonly where?: Row | undefined;
}

/** Puts a row, in place of one with the same key. */
export interface Put {
  readonly table: TableName;
  readonly row: Row;
  /** A column that gets the store's next number instead of its value. All puts of a commit get the same number. */
  readonly numbered?: string | undefined;
}

/** Removes one row, or all rows whose keys start with these values: at least those of the scope. */
export interface Remove {
  readonly table: TableName;
  readonly remove: Key;
}

export type Write = Put | Remove;

/** The purposes of writes. Tests use them to name the moments at which a process can die. */
export const writeLabels = [
  "run.begin",
  "run.child",
  "tool.intent",
  "tool.wait",
  "tool.decide",
  "tool.result",
  "step.commit",
  "run.end",
  "run.abandon",
  "run.stop",
  "lease.renew",
  "lease.wait",
  "inbox.add",
  "inbox.take",
  "inbox.withdraw",
  "session.add",
  "session.pop",
  "session.clear",
  "session.replace",
  "session.branch",
  "session.describe",
  "session.delete",
  "run.annotate",
  "spans.add",
  "memory.add",
  "memory.clear",
  "store.rotate",
  "namespace.begin",
] as const;

export type WriteLabel = (typeof writeLabels)[number];

export interface Commit {
  readonly label: WriteLabel;
  readonly checks: readonly Check[];
  readonly writes: readonly Write[];
}

/**
 * `refused` if a check failed: the current row of every check, in order. Otherwise everything was written; `number` is the number
 * that the store issued, if a put asked for one.
 */
export type Committed =
  | { readonly refused: readonly (Row | undefined)[] }
  | { readonly refused?: undefined; readonly number?: number | undefined };

/** Rows of a table that share a scope, in order. */
export interface RowRange {
  readonly table: TableName;
  /** One of the orders of the table. Default: its key. */
  readonly order?: string | undefined;
  /** The values of the scope, and of any columns that follow it in the order. */
  readonly prefix: Key;
  /** The lowest value of the next column, inclusive. */
  readonly from?: number | undefined;
  /** The highest value of the next column, exclusive. */
  readonly before?: number | undefined;
  readonly limit?: number | undefined;
  /** Order from the highest to the lowest. The limit then counts from the highest. */
  readonly reverse?: boolean | undefined;
}

/** A condition on a column. `contains` finds text in any case; it may find too much, and never too little. */
export type Condition =
  | { readonly column: string; readonly in: readonly Value[] }
  | { readonly column: string; readonly from?: string | number; readonly before?: string | number }
  | { readonly column: string; readonly contains: string };

/** A question to a table: its rows, or their numbers by group. */
export interface Selection {
  readonly table: TableName;
  /** All of them hold. A row in which a column is null does not meet a condition on it, except `in: [null]`. */
  readonly where: readonly Condition[];
  /** One of the orders of the table, from the highest to the lowest. Default: any order. */
  readonly newestBy?: string | undefined;
  readonly limit?: number | undefined;
  readonly groups?: Grouping | undefined;
}

/** Rows with equal values in `by` become one row: these values, `count`, each sum, and `values`. */
export interface Grouping {
  /** Columns, or the UTC day of a time: `{ day: "started_at" }`, which the answer calls "day". */
  readonly by: readonly (string | { readonly day: string })[];
  /** Columns to add up; null counts as 0. */
  readonly sum: readonly string[];
  /** A column whose different values are counted as `count`. Default: rows are counted. */
  readonly distinct?: string | undefined;
  /** A column whose values, without nulls, are returned as a JSON list in `values`. */
  readonly values?: string | undefined;
}

/**
 * A back end. Texts are well-formed and have no NUL; text is ordered by its UTF-8 bytes.
 *
 * **Contract:**
 * - `open` resolves with the schema version found, 0 for a new place, and writes nothing. It rejects with `store-foreign` if
 *   the place belongs to another program.
 * - `prepare` creates the tables, columns and indexes that are missing and records the version; several processes may call it at
 *   the same time.
 * - `get` and `read` are each one consistent snapshot, and return rows as they were put, with all columns of the table. A column
 *   that was not put is null.
 * - `commit` is atomic, and durable when it resolves. If a check fails, nothing is written. Removals come before puts, and no two
 *   puts of a commit have the same key. The numbers that a store issues increase from commit to commit.
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
  read(range: RowRange): Promise<Row[]>;
  commit(commit: Commit): Promise<Committed>;
  /**
   * Optional: answers a question over all scopes by the back end's own means, in one consistent snapshot. Without it the store
   * reads the rows and computes the same answer.
   */
  select?(selection: Selection): Promise<Row[]>;
  close(): Promise<void>;
}
