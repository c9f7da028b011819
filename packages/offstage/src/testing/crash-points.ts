// Crash points: a store in which one write throws, hangs or kills the process, before or after it takes effect.

import { checkOptions, checkRequired, type OptionRule, objectWith, oneOf, wholeFrom } from "../base/options.ts";
import { OffstageError } from "../errors.ts";
import { type StoreDriver, type WriteLabel, writeLabels } from "../sessions/ports/store-driver.ts";
import { type Store, storeOf, storeOptions, storeSource } from "../sessions/store.ts";
import { openCore } from "../sessions/store-core.ts";

export interface CrashPoint {
  /** The write that crashes: "run.begin", "tool.intent", "tool.result", "step.commit", "run.end" and others. */
  readonly at: WriteLabel;
  /** Before the write takes effect, or after it did and before the caller learns of it. */
  readonly when: "before" | "after";
  /** The number of the write among those of this label, from 1. Default 1. */
  readonly nth?: number | undefined;
  /** Throws this error, never returns, or kills the process. */
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

// A crash point that is never reached would make a test pass without a crash.
function checkPoint(point: CrashPoint): void {
  checkOptions(point, pointRules, "crash point");
  const missing = (["at", "when", "action"] as const).find((name) => point[name] === undefined);
  if (missing !== undefined)
    throw new OffstageError("invalid-argument", `A crash point needs "${missing}": ${pointRules[missing].words}.`);
}

/** The driver with one crash point. */
function crashingDriver(driver: StoreDriver, point: CrashPoint): StoreDriver {
  checkPoint(point);
  let count = 0;
  return {
    get name() {
      return driver.name;
    },
    open: () => driver.open(),
    prepare: (version) => driver.prepare(version),
    get: (places) => driver.get(places),
    read: (range) => driver.read(range),
    close: () => driver.close(),
    commit: async (commit) => {
      const isHere = commit.label === point.at && ++count === (point.nth ?? 1);
      if (isHere && point.when === "before") await crash(point.action);
      const committed = await driver.commit(commit);
      if (isHere && point.when === "after") await crash(point.action);
      return committed;
    },
  };
}

/** The store with one crash point. Use it instead of the given store until the crash. */
export function crashingStore(store: Store, point: CrashPoint): Store {
  checkRequired("store", store, objectWith("an open store", "session"));
  checkPoint(point);
  const { name, load } = store[storeSource];
  const source = { name, load: async () => crashingDriver(await load(), point) };
  return storeOf(openCore(source, store[storeOptions]));
}

function crash(action: CrashPoint["action"]): Promise<never> {
  if (action === "kill") process.kill(process.pid, "SIGKILL");
  if (action === "hang" || action === "kill") return new Promise(() => {});
  return Promise.reject(action);
}
