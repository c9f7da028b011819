// Admitted driver: an opened driver for one namespace, which is looked at once before anything in it is read or written.
import type { OpenedDriver } from "./opened-driver.ts";

/** The driver with a look at the namespace as part of opening it; what is wrong rejects `ready`, and every read and write. */
export function admittedDriver(driver: OpenedDriver, look: () => Promise<void>): OpenedDriver {
  let looking: Promise<void> | undefined;
  let isIn = false;
  const admit = (): Promise<void> =>
    look().then(
      () => {
        isIn = true;
      },
      (error) => {
        looking = undefined;
        throw error;
      },
    );
  const ready = async (): Promise<void> => {
    await driver.ready();
    looking ??= admit();
    await looking;
  };
  return {
    get name() {
      return driver.name;
    },
    ready,
    open: () => driver.open(),
    prepare: (version) => driver.prepare(version),
    get: (places) => (isIn ? driver.get(places) : ready().then(() => driver.get(places))),
    read: (list, range) => (isIn ? driver.read(list, range) : ready().then(() => driver.read(list, range))),
    commit: (commit, sending) =>
      isIn ? driver.commit(commit, sending) : ready().then(() => driver.commit(commit, sending)),
    close: () => driver.close(),
  };
}
