// Opened driver: a driver that opens itself on first use, repeats calls whose connection was lost, and refuses when closed.
import { setTimeout as sleep } from "node:timers/promises";
import { isOffstageError, messageOf, OffstageError } from "../errors.ts";
import { openSchema } from "./schema.ts";
import type { Commit, Refused, StoreDriver } from "./store-driver.ts";

/** What a commit is sent for. */
export interface Sending {
  /** A reply was lost and the commit sent again: where it is refused, it may be because it was written the first time. */
  isRepeated: boolean;
}

/** A driver with its life attached. */
export interface OpenedDriver extends StoreDriver {
  /** Opens the place now; rejects with what is wrong with it. */
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

/** Calls `work`, and again if the connection was lost; `onRepeat` is called before each repetition. */
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

// A driver of somebody's may throw anything; whoever hears of it is to know where it came from.
function failureOf({ name }: StoreDriver, error: unknown): OffstageError {
  if (isOffstageError(error)) return error;
  return new OffstageError("store-failed", `${name} failed: ${messageOf(error)}`, { cause: error });
}

/** What using a closed store gives. */
export function closedError(name: string): OffstageError {
  return new OffstageError("store-closed", `${name} was closed; open it again to go on.`);
}
