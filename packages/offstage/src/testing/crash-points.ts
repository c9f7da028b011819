// Crash points: a store whose writes can be made to throw, hang or kill the process, before or after they take effect.

import { checkOptions, type OptionRule, oneOf, wholeFrom } from "../base/options.ts";
import { OffstageError } from "../errors.ts";
import { createStore, type Store, storeDriver, storeOptions } from "../sessions/store.ts";
import { type StoreDriver, type WriteLabel, writeLabels } from "../sessions/store-driver.ts";

export interface CrashPoint {
  /** The write at which it happens: "run.begin", "tool.intent", "tool.result", "step.commit", "run.end" and others. */
  readonly at: WriteLabel;
  /** Before the write takes effect, or after it did and before anybody knows. */
  readonly when: "before" | "after";
  /** Which of these writes, from 1. Default 1. */
  readonly nth?: number;
  /** What happens: an error is thrown, nothing ever comes back, or the process is killed. */
  readonly action: Error | "hang" | "kill";
}

const pointRules: Readonly<Record<keyof CrashPoint, OptionRule>> = {
  at: oneOf(...writeLabels),
  when: oneOf("before", "after"),
  nth: wholeFrom(1),
  action: {
    isFit: (value) => value instanceof Error || value === "hang" || value === "kill",
    words: 'an Error, "hang" or "kill"',
  },
};

// A point that is never reached would be a test of a crash that passes without one.
function checkPoint(point: CrashPoint): void {
  checkOptions(point, pointRules, "crash point");
  const missing = (["at", "when", "action"] as const).find((name) => point[name] === undefined);
  if (missing !== undefined)
    throw new OffstageError("invalid-argument", `A crash point needs "${missing}": ${pointRules[missing].words}.`);
}

/** The driver with one crash point. */
export function crashingDriver(driver: StoreDriver, point: CrashPoint): StoreDriver {
  checkPoint(point);
  let count = 0;
  return {
    get name() {
      return driver.name;
    },
    open: () => driver.open(),
    prepare: (version) => driver.prepare(version),
    get: (places) => driver.get(places),
    read: (list, range) => driver.read(list, range),
    close: () => driver.close(),
    commit: async (commit) => {
      const isHere = commit.label === point.at && ++count === (point.nth ?? 1);
      if (isHere && point.when === "before") await crash(point.action);
      const refused = await driver.commit(commit);
      if (isHere && point.when === "after") await crash(point.action);
      return refused;
    },
  };
}

/** The store with one crash point. The store that was given must not be used before the crash. */
export function crashingStore(store: Store, point: CrashPoint): Store {
  return createStore(crashingDriver(store[storeDriver], point), store[storeOptions]);
}

function crash(action: CrashPoint["action"]): Promise<never> {
  if (action === "kill") process.kill(process.pid, "SIGKILL");
  if (action === "hang" || action === "kill") return new Promise(() => {});
  return Promise.reject(action);
}
