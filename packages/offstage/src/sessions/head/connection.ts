// The connection to a back end: loads and opens the driver on first use, retries calls whose connection was lost, and rejects calls
// after it is closed. One for all namespaces.
import { setTimeout as sleep } from "node:timers/promises";
import { isOffstageError, messageOf, OffstageError } from "../../errors.ts";
import type { Commit, Committed, Row, RowPlace, RowRange, Selection, StoreDriver } from "../ports/store-driver.ts";

/** The version of the schema in tables.ts. An earlier version lacks tables or columns, which `prepare` creates. */
export const schemaVersion = 1;

/** A commit in progress. */
export interface Sending {
  /** The commit was retried after a lost reply. If it is then refused, the first attempt may have been written. */
  isRepeated: boolean;
}

export interface Connection {
  /** The place, as errors name it. The driver, once it is loaded, may know it better. */
  name: string;
  /** Opens the place now; rejects if that fails. */
  ready(): Promise<StoreDriver>;
  get(places: readonly RowPlace[]): Promise<(Row | undefined)[]>;
  read(range: RowRange): Promise<Row[]>;
  commit(commit: Commit, sending?: Sending): Promise<Committed>;
  /** The back end's own answer; undefined if it has none. */
  select(selection: Selection): Promise<Row[] | undefined>;
  close(): Promise<void>;
}

/** A driver that is loaded on first use. */
export interface DriverSource {
  /** The place, as errors name it before the driver is loaded. */
  readonly name: string;
  /** Returns the address, for an engine that connects to the same database. A function, because it may contain a password. */
  readonly url?: (() => string | undefined) | undefined;
  load(): Promise<StoreDriver>;
}

const retryDelaysMs = [50, 250, 1_000];

export function connect(source: DriverSource): Connection {
  let driver: StoreDriver | undefined;
  let opening: Promise<StoreDriver> | undefined;
  let closing: Promise<void> | undefined;

  const open = async (): Promise<StoreDriver> => {
    try {
      const loaded = await source.load();
      driver = loaded;
      connection.name = loaded.name;
      await retry(loaded.name, () => openSchema(loaded));
      return loaded;
    } catch (error) {
      await driver?.close().catch(() => {});
      opening = undefined;
      throw error;
    }
  };
  const ready = async (): Promise<StoreDriver> => {
    if (closing !== undefined) throw closedError(connection.name);
    opening ??= open();
    const opened = await opening;
    // The store may have been closed while it opened.
    if (closing !== undefined) throw closedError(connection.name);
    return opened;
  };
  const close = async (): Promise<void> => {
    await opening?.catch(() => {});
    await driver?.close();
  };
  const call = async <T>(work: (opened: StoreDriver) => Promise<T>, sending?: Sending): Promise<T> => {
    const opened = await ready();
    return retry(connection.name, () => work(opened), sending);
  };

  const connection: Connection = {
    name: source.name,
    ready,
    get: (places) => call((opened) => opened.get(places)),
    read: (range) => call((opened) => opened.read(range)),
    select: (selection) => call(async (opened) => opened.select?.(selection)),
    commit: (commit, sending) => call((opened) => opened.commit(commit), sending),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
  return connection;
}

// Creates what is missing. A newer version is refused and left unchanged.
async function openSchema(driver: StoreDriver): Promise<void> {
  const found = await driver.open();
  if (found === schemaVersion) return;
  if (found < schemaVersion) return driver.prepare(schemaVersion);
  const message = `${driver.name} has schema version ${found}, but this version of Offstage supports ${schemaVersion}. Update Offstage. Nothing was changed.`;
  throw new OffstageError("schema-newer", message);
}

/** Calls `work`, and retries it if the connection was lost; `sending` then says so. */
async function retry<T>(name: string, work: () => Promise<T>, sending?: Sending): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const delayMs = retryDelaysMs[attempt];
      if (delayMs === undefined || !isOffstageError(error, "store-connection")) throw failureOf(name, error);
      if (sending !== undefined) sending.isRepeated = true;
      await sleep(delayMs * (0.5 + Math.random() / 2));
    }
  }
}

// A driver of a user may throw any value; the error names the driver.
function failureOf(name: string, error: unknown): OffstageError {
  if (isOffstageError(error)) return error;
  return new OffstageError("store-failed", `${name} failed: ${messageOf(error)}`, { cause: error });
}

/** The error for using a closed store. */
export function closedError(name: string): OffstageError {
  return new OffstageError("store-closed", `${name} is closed. Open it again to continue.`);
}
