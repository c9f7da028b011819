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
  commit(commit: Commit, sending?: Sending): Refused | Promise<Refused>;
}

const retryDelaysMs = [50, 250, 1_000];

export function openedDriver(driver: StoreDriver): OpenedDriver {
  let opening: Promise<void> | undefined;
  let isOpen = false;
  let closing: Promise<void> | undefined;

  const ready = (): Promise<void> => {
    if (closing !== undefined) return Promise.reject(closedError(driver.name));
    opening ??= openSchema(driver)
      .catch((error) => again(driver, error, () => openSchema(driver)))
      .then(
        () => {
          isOpen = closing === undefined;
        },
        async (error) => {
          opening = undefined;
          await driver.close();
          throw error;
        },
      );
    return opening;
  };

  const call = <T>(work: () => Promise<T>): Promise<T> =>
    isOpen ? repeated(driver, work) : ready().then(() => repeated(driver, work));

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
      isOpen ? commitOnce(driver, commit, sending) : ready().then(() => commitOnce(driver, commit, sending)),
    close: () => {
      isOpen = false;
      closing ??= (opening ?? Promise.resolve()).catch(() => {}).then(() => driver.close());
      return closing;
    },
  };
}

// At once where the driver answers at once.
function commitOnce(driver: StoreDriver, commit: Commit, sending?: Sending): Refused | Promise<Refused> {
  const repeat = (error: unknown) => {
    if (sending !== undefined) sending.isRepeated = true;
    return again(driver, error, async () => driver.commit(commit));
  };
  try {
    const committing = driver.commit(commit);
    return committing !== undefined && "then" in committing ? committing.catch(repeat) : committing;
  } catch (error) {
    if (!isOffstageError(error, "store-connection")) throw failureOf(driver, error);
    return repeat(error);
  }
}

/** What the work gives, tried again where a connection was lost. */
export function repeated<T>(driver: StoreDriver, work: () => Promise<T>): Promise<T> {
  try {
    return work().catch((error) => again(driver, error, work));
  } catch (error) {
    return again(driver, error, work);
  }
}

// Only a lost connection is worth another try.
async function again<T>(driver: StoreDriver, failure: unknown, work: () => Promise<T>): Promise<T> {
  let error = failure;
  for (const delayMs of retryDelaysMs) {
    if (!isOffstageError(error, "store-connection")) break;
    await sleep(delayMs * (0.5 + Math.random() / 2));
    try {
      return await work();
    } catch (next) {
      error = next;
    }
  }
  throw failureOf(driver, error);
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
