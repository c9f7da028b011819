// A driver that opens itself on first use, retries calls whose connection was lost, and rejects calls after it is closed.
import { setTimeout as sleep } from "node:timers/promises";
import { isOffstageError, messageOf, OffstageError } from "../errors.ts";
import { openSchema } from "./schema.ts";
import type { Commit, Refused, StoreDriver } from "./store-driver.ts";

/** A commit in progress. */
export interface Sending {
  /** The commit was retried after a lost reply. If it is then refused, the first attempt may have been written. */
  isRepeated: boolean;
}

/** A driver that manages its own connection. */
export interface OpenedDriver extends StoreDriver {
  /** Opens the store now; rejects if that fails. */
  ready(): Promise<void>;
  commit(commit: Commit, sending?: Sending): Promise<Refused>;
}

const retryDelaysMs = [50, 250, 1_000];

export function openedDriver(driver: StoreDriver): OpenedDriver {
  let opening: Promise<void> | undefined;
  let closing: Promise<void> | undefined;

  const checkOpen = (): void => {
    if (closing !== undefined) throw closedError(driver.name);
  };
  const open = async (): Promise<void> => {
    try {
      await repeated(driver, () => openSchema(driver));
    } catch (error) {
      opening = undefined;
      await driver.close();
      throw error;
    }
  };
  const ready = async (): Promise<void> => {
    checkOpen();
    opening ??= open();
    await opening;
  };
  const call = async <T>(work: () => Promise<T>, onRepeat?: () => void): Promise<T> => {
    await ready();
    // The store may have been closed while it opened.
    checkOpen();
    return repeated(driver, work, onRepeat);
  };
  const close = async (): Promise<void> => {
    await opening?.catch(() => {});
    await driver.close();
  };

  return {
    get name() {
      return driver.name;
    },
    ready,
    open: () => driver.open(),
    prepare: (version) => driver.prepare(version),
    get: (places) => call(() => driver.get(places)),
    read: (list, range) => call(() => driver.read(list, range)),
    commit: (commit, sending) =>
      call(
        () => driver.commit(commit),
        () => {
          if (sending !== undefined) sending.isRepeated = true;
        },
      ),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

/** Calls `work`, and retries it if the connection was lost; `onRepeat` is called before each retry. */
export async function repeated<T>(driver: StoreDriver, work: () => Promise<T>, onRepeat?: () => void): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const delayMs = retryDelaysMs[attempt];
      if (delayMs === undefined || !isOffstageError(error, "store-connection")) throw failureOf(driver, error);
      onRepeat?.();
      await sleep(delayMs * (0.5 + Math.random() / 2));
    }
  }
}

// A driver of a user may throw any value; the error names the driver.
function failureOf({ name }: StoreDriver, error: unknown): OffstageError {
  if (isOffstageError(error)) return error;
  return new OffstageError("store-failed", `${name} failed: ${messageOf(error)}`, { cause: error });
}

/** The error for using a closed store. */
export function closedError(name: string): OffstageError {
  return new OffstageError("store-closed", `${name} is closed. Open it again to continue.`);
}

/** Adds `look`, a check of the namespace, to opening the driver. If it rejects, so do `ready` and every read and write. */
export function admittedDriver(driver: OpenedDriver, look: () => Promise<void>): OpenedDriver {
  let looking: Promise<void> | undefined;
  const ready = async (): Promise<void> => {
    await driver.ready();
    looking ??= look().catch((error) => {
      looking = undefined;
      throw error;
    });
    await looking;
  };
  return {
    get name() {
      return driver.name;
    },
    ready,
    open: () => driver.open(),
    prepare: (version) => driver.prepare(version),
    get: async (places) => {
      await ready();
      return driver.get(places);
    },
    read: async (list, range) => {
      await ready();
      return driver.read(list, range);
    },
    commit: async (commit, sending) => {
      await ready();
      return driver.commit(commit, sending);
    },
    close: () => driver.close(),
  };
}
