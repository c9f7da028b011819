// A driver for one namespace, which is checked once before the first read or write.
import type { OpenedDriver } from "./opened-driver.ts";

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
