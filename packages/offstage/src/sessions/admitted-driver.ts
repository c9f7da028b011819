// Admitted driver: an opened driver for one namespace, which is looked at once before anything in it is read or written.
import type { OpenedDriver } from "./opened-driver.ts";

/** The driver with a look at the namespace as part of opening it; a problem rejects `ready` and every read and write. */
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
