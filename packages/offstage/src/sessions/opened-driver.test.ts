import { expect, test } from "vitest";
import { OffstageError } from "../errors.ts";
import { calling, open, resultOf, start, step } from "../testing/store-claims/claim.ts";
import { openedDriver } from "./opened-driver.ts";
import { createStore } from "./store.ts";
import type { Commit, StoreDriver } from "./store-driver.ts";
import { memoryDriver } from "./stores/memory.ts";

const write = { label: "session.add" as const, checks: [], writes: [{ list: "l", key: "k", value: "v" }] };
const lost = () => new OffstageError("store-connection", "lost");

/** A driver in memory whose first commit fails; counts the commits. */
function failing(fail: () => never | Promise<never>): StoreDriver & { readonly commits: number } {
  const driver = memoryDriver();
  let commits = 0;
  return {
    ...driver,
    get commits() {
      return commits;
    },
    commit: (commit) => (++commits === 1 ? fail() : driver.commit(commit)),
  };
}

test.for([
  [
    "throws",
    () => {
      throw lost();
    },
  ],
  ["rejects", () => Promise.reject(lost())],
] as const)("a commit that %s because the connection was lost is retried", async ([, fail]) => {
  const driver = failing(fail);
  const opened = openedDriver(driver);
  await opened.ready();
  expect(await opened.commit(write)).toBeUndefined();
  expect([driver.commits, await opened.get([{ list: "l", key: "k" }])]).toEqual([2, [{ key: "k", value: "v" }]]);
});

test("a commit that fails for another reason is not retried", async () => {
  const driver = failing(() => {
    throw new OffstageError("store-full", "full");
  });
  const opened = openedDriver(driver);
  await opened.ready();
  await expect(opened.commit(write)).rejects.toThrow("full");
  expect(driver.commits).toBe(1);
});

test("an error of a driver that is not an OffstageError becomes store-failed and names the driver", async () => {
  const cause = new Error("the disk is gone");
  const told = { code: "store-failed", message: "the store in memory failed: the disk is gone", cause };
  const driver = failing(() => {
    throw cause;
  });
  const opened = openedDriver({ ...driver, read: () => Promise.reject(cause) });
  await opened.ready();
  await expect(opened.commit(write)).rejects.toMatchObject(told);
  await expect(opened.read("l")).rejects.toMatchObject(told);
});

test("a retried write that arrives again after its step is finished changes nothing", async () => {
  const inner = memoryDriver();
  let late: Commit | undefined;
  const commit = async (given: Commit) => {
    if (given.label !== "tool.intent" || late !== undefined) return inner.commit(given);
    late = given;
    throw lost();
  };
  const store = createStore({ ...inner, commit });
  const log = await open(store, "s", start("r", "now"));
  await log.intend(1, calling("a"));
  await log.step(step(1, [calling("a"), resultOf("a")]));
  expect(await inner.commit(late as Commit)).toBeUndefined();
  const run = await store.runs.get("r");
  expect([run?.steps.length, run?.openStep]).toEqual([1, undefined]);
  await log.abandon();
});
