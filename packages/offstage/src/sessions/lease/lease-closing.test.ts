import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { held } from "../../../test/support/held-sessions.ts";
import { ended, open, said, start, texts } from "../../testing/store-claims/claim.ts";
import { memoryDriver } from "../drivers/memory/memory.ts";
import type { Commit, StoreDriver } from "../ports/store-driver.ts";
import { createStore } from "../store.ts";

test("closing a store rejects a run that waits for its session", async () => {
  const { driver } = await held();
  const other = createStore(driver);
  const waiting = open(other, "a", start("r2", "two"));
  await sleep(10);
  await other.close();
  await expect(waiting).rejects.toMatchObject({ code: "store-closed" });
});

test.for([
  ["immediately", (driver: StoreDriver) => driver.commit],
  [
    "late",
    (driver: StoreDriver) => async (commit: Commit) => {
      await sleep(20);
      const committed = await driver.commit(commit);
      await sleep(20);
      return committed;
    },
  ],
] as const)(
  "closing a store while runs queue and begin leaves the session free, with a driver that answers %s",
  async (each) => {
    const driver = memoryDriver();
    const store = createStore({ ...driver, commit: each[1](driver) });
    await store.session("a").addItem(said("zero"));
    const runs = ["r1", "r2", "r3"].map((runId) => open(store, "a", start(runId, runId)));
    const told = Promise.allSettled(runs);
    // The first write of the first run is in progress or done.
    await sleep(30);
    await store.close();
    const [, second, third] = await told;
    for (const queued of [second, third]) expect(queued).toMatchObject({ reason: { code: "store-closed" } });
    const other = createStore(driver);
    expect((await other.runs.list()).map(({ runId, status }) => [runId, status])).toEqual([["r1", "interrupted"]]);
    const next = await open(other, "a", start("r4", "four", { onBusy: "reject" }));
    await next.end(ended("done"));
    expect(texts(await other.session("a").getItems())).toEqual(["zero", "r1", "four", "done"]);
  },
);

test("closing a store completes the changes requested before, and rejects later ones", async () => {
  const driver = memoryDriver();
  const store = createStore(driver);
  const adding = [1, 2, 3].map((n) => store.session("a").addItem(said(`message ${n}`)));
  const closing = store.close();
  await Promise.all([...adding, closing]);
  await expect(store.session("a").addItem(said("later"))).rejects.toMatchObject({ code: "store-closed" });
  expect(texts(await createStore(driver).session("a").getItems())).toEqual(["message 1", "message 2", "message 3"]);
});

test("closing a store that does not answer gives up after five seconds", async () => {
  const driver = memoryDriver();
  const beginning = Promise.withResolvers<void>();
  const commit = () => {
    beginning.resolve();
    return new Promise<never>(() => {});
  };
  const store = createStore({ ...driver, commit });
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
