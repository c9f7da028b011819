import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { OffstageError } from "../errors.ts";
import { ended, open, said, start, step, texts } from "../testing/store-claims/claim.ts";
import { SessionBusyError, SessionConflictError } from "./session-errors.ts";
import { formatHead, type Lease, parseHead } from "./session-head.ts";
import { openStoreOn } from "./store.ts";
import type { Commit, StoreDriver } from "./store-driver.ts";
import { memoryDriver } from "./stores/memory.ts";
import { sqliteDriver } from "./stores/sqlite.ts";

const place = { list: "h//a", key: "head" };

/** Rewrites the lease of session "a" as if somebody else held it. */
async function pretend(driver: StoreDriver, change: (holder: string) => string, seenMsAgo = 0): Promise<void> {
  const [row] = await driver.get([place]);
  const head = parseHead(row?.value ?? "", "memory");
  const lease = { ...(head.lease as Lease), holder: change(head.lease?.holder ?? ""), seen: Date.now() - seenMsAgo };
  const value = formatHead({ ...head, lease });
  await driver.commit({ label: "session.add", checks: [], writes: [{ ...place, value }] });
}

const elsewhere = (holder: string): string => `faraway ${holder.split(" ").slice(1).join(" ")}`;
const gone = (holder: string): string => holder.replace(/^(\S+) \d+/, "$1 4194304");
const reused = (holder: string): string => holder.replace(/^(\S+ \d+) \S*/, "$1 1");

async function held(): Promise<{ driver: StoreDriver; log: Awaited<ReturnType<typeof open>> }> {
  const driver = memoryDriver();
  return { driver, log: await open(openStoreOn(driver), "a", start("r1", "one")) };
}

/** Session "a" held elsewhere, by one who shows a sign of life only when told to; its clock is off by so much. */
async function heldElsewhere(clockAheadMs: number): Promise<{ driver: StoreDriver; renew: () => Promise<void> }> {
  const driver = memoryDriver();
  const isRenewal = (label: string): boolean => label === "lease.renew";
  const silent: StoreDriver = { ...driver, commit: async (each) => (isRenewal(each.label) ? [] : driver.commit(each)) };
  await open(openStoreOn(silent), "a", start("r1", "one"));
  const renew = () => pretend(driver, elsewhere, -clockAheadMs);
  await renew();
  return { driver, renew };
}

/** Time goes by, as far as clocks of this process tell; then whoever waits has the time to look again. */
async function pass(ms: number): Promise<void> {
  vi.advanceTimersByTime(ms);
  await sleep(300);
}

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test.for([
  ["on this machine that is gone", gone, 0],
  ["on this machine whose process id is another's now", reused, 0],
  ["elsewhere that was silent for more than 8 s", elsewhere, 9_000],
] as const)("the session of a holder %s is taken over at once, and its writes are refused", async ([, change, ago]) => {
  const { driver, log } = await held();
  await pretend(driver, change, ago);
  const other = openStoreOn(driver);
  expect((await other.runs.get("r1"))?.status).toBe("interrupted");
  const second = await open(other, "a", start("r2", "two", { onBusy: "reject" }));
  await expect(log.step(step(1, []))).rejects.toThrow(SessionConflictError);
  await expect(log.end(ended("late"))).rejects.toThrow(SessionConflictError);
  await log.abandon();
  await second.end(ended("done"));
  expect(texts(await other.session("a").getItems())).toEqual(["one", "two", "done"]);
  expect(await other.verify()).toEqual([]);
});

test("a holder that was silent for long is refused in a session that was deleted and made again", async () => {
  const { driver, log } = await held();
  const child = await log.child(start("child", "sub"));
  await pretend(driver, elsewhere, 9_000);
  const other = openStoreOn(driver);
  expect(await other.sessions.delete("a")).toBe(true);
  // It has the same fence and the same number as the one before.
  const fresh = await open(other, "a", start("r2", "two"));
  for (const late of [log, child]) {
    await expect(late.step(step(1, []))).rejects.toThrow(SessionConflictError);
    await expect(late.end(ended("late"))).rejects.toThrow(SessionConflictError);
    await late.abandon();
  }
  const below = await fresh.child(start("below", "sub"));
  await below.end(ended(""));
  await fresh.end(ended("done"));
  expect(texts(await other.session("a").getItems())).toEqual(["two", "done"]);
  expect((await other.runs.list()).map(({ runId, status }) => [runId, status])).toEqual([["r2", "completed"]]);
  expect(await other.verify()).toEqual([]);
});

test("a holder elsewhere that shows signs of life keeps its session", async () => {
  const { driver } = await held();
  await pretend(driver, elsewhere, 5_000);
  const other = openStoreOn(driver);
  await expect(open(other, "a", start("r2", "two", { onBusy: "reject" }))).rejects.toThrow(SessionBusyError);
  await expect(other.sessions.delete("a")).rejects.toThrow(SessionBusyError);
});

test.for([
  ["an hour ahead", 3_600_000],
  ["right", 0],
  ["an hour behind", -3_600_000],
] as const)(
  "one that waits gets the session when a holder elsewhere, whose clock is %s, is silent for 8 s, and no sooner",
  async ([, aheadMs]) => {
    const { driver, renew } = await heldElsewhere(aheadMs);
    vi.useFakeTimers({ toFake: ["hrtime"] });
    let isIn = false;
    const waiting = open(openStoreOn(driver), "a", start("r2", "two")).then((log) => {
      isIn = true;
      return log;
    });
    await pass(0);
    for (let n = 0; n < 3; n++) {
      await pass(6_000);
      await renew();
      await pass(0);
    }
    await pass(6_000);
    expect(isIn).toBe(false);
    await pass(2_100);
    await (await waiting).abandon();
  },
);

test("a holder on this machine keeps its session when the clock is set forward", async () => {
  const { driver, log } = await held();
  const waiting = open(openStoreOn(driver), "a", start("r2", "two"));
  await sleep(20);
  const clock = Date.now;
  vi.spyOn(Date, "now").mockImplementation(() => clock() + 120_000);
  await sleep(300);
  await log.end(ended("done"));
  await (await waiting).end(ended("done too"));
  expect(texts(await openStoreOn(driver).session("a").getItems())).toEqual(["one", "done", "two", "done too"]);
});

test("a begin that was written and of which nobody heard keeps no other process waiting", {
  timeout: 20_000,
}, async () => {
  const driver = memoryDriver();
  let isLost = true;
  const commit = async (given: Commit) => {
    const refused = await driver.commit(given);
    if (!isLost || given.label !== "run.begin") return refused;
    throw new OffstageError("store-connection", "the reply was lost");
  };
  const store = openStoreOn({ ...driver, commit });
  await expect(open(store, "a", start("r1", "one"))).rejects.toMatchObject({ code: "store-connection" });
  isLost = false;
  await sleep(50);
  const other = openStoreOn(driver);
  const next = await open(other, "a", start("r2", "two", { onBusy: "reject" }));
  await next.end(ended("done"));
  expect((await other.runs.get("r1"))?.status).toBe("interrupted");
  expect(await other.verify()).toEqual([]);
});

test.for([
  ["ahead", 3_600_000],
  ["behind", -3_600_000],
] as const)(
  "one who waited elsewhere goes first for 5 s and no longer, though its clock was an hour %s",
  async ([, aheadMs]) => {
    const { driver, log } = await held();
    const text = JSON.stringify([elsewhere("here 1 1 x"), Date.now() + aheadMs]);
    await driver.commit({ label: "lease.wait", checks: [], writes: [{ ...place, key: "waiting", value: text }] });
    await log.end(ended("done"));
    vi.useFakeTimers({ toFake: ["hrtime"] });
    let isIn = false;
    const waiting = open(openStoreOn(driver), "a", start("r2", "two")).then((second) => {
      isIn = true;
      return second;
    });
    await pass(0);
    await pass(4_000);
    expect(isIn).toBe(false);
    await pass(1_100);
    await (await waiting).abandon();
  },
);

test("a session that is changed by a clock that is behind is not older for it", async () => {
  const driver = memoryDriver();
  const session = openStoreOn(driver).session("a");
  await session.addItem(said("on time"));
  const before = await openStoreOn(driver).sessions.get("a");
  const hourAgo = Date.now() - 3_600_000;
  vi.spyOn(Date, "now").mockReturnValue(hourAgo);
  const late = openStoreOn(driver);
  await late.session("b").addItem(said("another"));
  await late.session("a").addItem(said("an hour ago, it says"));
  const after = await late.sessions.get("a");
  expect(after?.messageCount).toBe(2);
  expect(Date.parse(after?.lastActivityAt ?? "")).toBeGreaterThanOrEqual(Date.parse(before?.lastActivityAt ?? ""));
  expect(await late.verify()).toEqual([]);
});

test("one that waits leaves with the signal's reason", async () => {
  const { driver } = await held();
  const reason = new Error("enough");
  const controller = new AbortController();
  const waiting = open(openStoreOn(driver), "a", start("r2", "two", { signal: controller.signal }));
  await sleep(10);
  controller.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  expect(texts(await openStoreOn(driver).session("a").getItems())).toEqual(["one"]);
});

test.for([
  ["remembers the conversation", false],
  ["has to read it", true],
] as const)("one that is aborted as its turn comes writes nothing, where its process %s", async ([, isForgotten]) => {
  await using store = openStoreOn(sqliteDriver({ path: ":memory:" }));
  const first = await open(store, "a", start("r1", "one"));
  const controller = new AbortController();
  const waiting = open(store, "a", start("r2", "two", { signal: controller.signal }));
  if (isForgotten) await store.session("a").popItem();
  await first.end(ended("done"));
  controller.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  expect((await store.runs.list()).map(({ runId }) => runId)).toEqual(["r1"]);
  const third = await open(store, "a", start("r3", "three", { onBusy: "reject" }));
  await third.end(ended("done"));
});

test("a long run shows signs of life", async () => {
  const { driver, log } = await held();
  const seen = async (): Promise<number> => {
    const [row] = await driver.get([place]);
    return parseHead(row?.value ?? "", "memory").lease?.seen ?? 0;
  };
  const before = await seen();
  await sleep(2_600);
  expect(await seen()).toBeGreaterThan(before + 1_500);
  await log.abandon();
});

test("a store that closes while a run waits for its session lets go of it", async () => {
  const { driver } = await held();
  const other = openStoreOn(driver);
  const waiting = open(other, "a", start("r2", "two"));
  await sleep(10);
  await other.close();
  await expect(waiting).rejects.toMatchObject({ code: "store-closed" });
});

test.for([
  ["at once", (driver: StoreDriver) => driver.commit],
  [
    "after a while",
    (driver: StoreDriver) => async (commit: Commit) => {
      await sleep(20);
      const refused = await driver.commit(commit);
      await sleep(20);
      return refused;
    },
  ],
] as const)(
  "a store that closes while runs queue and begin leaves the session free, where it answers %s",
  async (each) => {
    const driver = memoryDriver();
    const store = openStoreOn({ ...driver, commit: each[1](driver) });
    await store.session("a").addItem(said("zero"));
    const runs = ["r1", "r2", "r3"].map((runId) => open(store, "a", start(runId, runId)));
    const told = Promise.allSettled(runs);
    // The first write of the first run is under way, or done.
    await sleep(30);
    await store.close();
    const [, second, third] = await told;
    for (const queued of [second, third]) expect(queued).toMatchObject({ reason: { code: "store-closed" } });
    const other = openStoreOn(driver);
    expect((await other.runs.list()).map(({ runId, status }) => [runId, status])).toEqual([["r1", "interrupted"]]);
    const next = await open(other, "a", start("r4", "four", { onBusy: "reject" }));
    await next.end(ended("done"));
    expect(texts(await other.session("a").getItems())).toEqual(["zero", "r1", "four", "done"]);
  },
);

test("a store that does not answer keeps its closing waiting for so long and no longer", async () => {
  const driver = memoryDriver();
  const beginning = Promise.withResolvers<void>();
  const commit = () => {
    beginning.resolve();
    return new Promise<never>(() => {});
  };
  const store = openStoreOn({ ...driver, commit });
  open(store, "a", start("r1", "one")).catch(() => {});
  await beginning.promise;
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  let isClosed = false;
  const closing = store.close().then(() => {
    isClosed = true;
  });
  await vi.advanceTimersByTimeAsync(4_900);
  expect(isClosed).toBe(false);
  await vi.advanceTimersByTimeAsync(200);
  await closing;
  expect(vi.getTimerCount()).toBe(0);
});

test.for([
  ["", 0],
  [" and the clock is set back by an hour", 3_600_000],
] as const)(
  "a run of another process is let in after a while, though runs here queue without end%s",
  async ([, backMs]) => {
    const driver = memoryDriver();
    const here = openStoreOn(driver);
    let count = 0;
    let isOver = false;
    const oneAfterAnother = async (): Promise<void> => {
      while (!isOver) {
        const log = await open(here, "a", start(`r${++count}`, "mine"));
        await sleep(1);
        await log.end(ended("done"));
      }
    };
    const queue = [oneAfterAnother(), oneAfterAnother()];
    await sleep(20);
    const clock = Date.now;
    vi.spyOn(Date, "now").mockImplementation(() => clock() - backMs);
    const begun = Date.now();
    const log = await open(openStoreOn(driver), "a", start("other", "theirs"));
    expect(Date.now() - begun).toBeLessThan(4_000);
    isOver = true;
    await log.end(ended("done"));
    await Promise.all(queue);
    expect(count).toBeGreaterThan(10);
    expect(await driver.read("h//a")).toHaveLength(1);
    expect(await here.verify()).toEqual([]);
  },
);

test("the mark of one who gave up keeps nobody waiting", async () => {
  const { driver, log } = await held();
  const controller = new AbortController();
  const waiting = open(openStoreOn(driver), "a", start("r2", "two", { signal: controller.signal }));
  waiting.catch(() => {});
  await sleep(1_300);
  expect((await driver.read("h//a")).map(({ key }) => key)).toEqual(["head", "waiting"]);
  controller.abort();
  await expect(waiting).rejects.toThrow();
  await log.abandon();
  expect((await driver.read("h//a")).map(({ key }) => key)).toEqual(["head"]);
});
