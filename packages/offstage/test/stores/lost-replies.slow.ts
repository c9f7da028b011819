import { expect, test } from "vitest";
import { OffstageError } from "../../src/errors.ts";
import type { Message } from "../../src/messages/message.ts";
import { memoryDriver } from "../../src/sessions/drivers/memory/memory.ts";
import type { Commit, Committed, StoreDriver, WriteLabel } from "../../src/sessions/ports/store-driver.ts";
import { createStore, type Store } from "../../src/sessions/store.ts";
import { said, texts, turn } from "../../src/testing/store-claims/claim.ts";

const lost = () => new OffstageError("store-connection", "The connection was lost.");

/** A driver that loses replies of commits: some before they took effect, most after. */
function unreliable(driver: StoreDriver, isLost: () => "before" | "after" | undefined): StoreDriver {
  return {
    ...driver,
    commit: async (commit) => {
      const when = isLost();
      if (when === "before") throw lost();
      const committed = await driver.commit(commit);
      if (when === "after") throw lost();
      return committed;
    },
  };
}

function every(n: number): { isLost: () => "before" | "after" | undefined; readonly count: number } {
  let [calls, count] = [0, 0];
  const isLost = (): "before" | "after" | undefined => {
    if (++calls % n !== 0) return undefined;
    return ++count % 4 === 0 ? "before" : "after";
  };
  return {
    isLost,
    get count() {
      return count;
    },
  };
}

function open(isLost: () => "before" | "after" | undefined): Store {
  return createStore(unreliable(memoryDriver(), isLost));
}

test("after 500 lost replies no turn is missing or duplicated", async () => {
  const losing = Array.from({ length: 10 }, () => every(2));
  const stores = losing.map(({ isLost }) => open(isLost));
  await Promise.all(
    stores.map(async (store) => {
      for (let n = 0; n < 14; n++) {
        await turn(store, "a", n);
        await store.session("a").addItem(said(`beside ${n}`));
        if (n % 3 === 0) await store.session("a").popItem();
      }
    }),
  );
  const expected = Array.from({ length: 14 }, (_, n) => {
    return [`question ${n}`, `answer ${n}`, ...(n % 3 === 0 ? [] : [`beside ${n}`])];
  });
  for (const store of stores) {
    expect(texts(await store.session("a").getItems())).toEqual(expected.flat());
    expect(await store.verify()).toEqual([]);
    expect((await store.runs.list({ status: "completed" })).length).toBe(14);
  }
  const count = losing.reduce((sum, each) => sum + each.count, 0);
  expect(count).toBeGreaterThanOrEqual(500);
  process.stdout.write(`${count} lost replies: 0 duplicates, 0 missing\n`);
});

test("a connection that stays lost is an error after a bounded number of retries", async () => {
  const store = open(() => "before");
  await expect(store.session("a").addItem(said("x"))).rejects.toMatchObject({ code: "store-connection" });
});

/** A store that loses the reply of its first write with this label, after others have written. */
function losing(driver: StoreDriver, label: WriteLabel, others: () => Promise<unknown>): Store {
  let isLost = false;
  const commit = async (given: Commit): Promise<Committed> => {
    const committed = await driver.commit(given);
    if (given.label !== label || isLost) return committed;
    isLost = true;
    await others();
    throw lost();
  };
  return createStore({ ...driver, commit });
}

async function write(stores: readonly Store[], times: number): Promise<void> {
  for (let n = 0; n < times; n++) for (const store of stores) await store.session("a").addItem(said("theirs"));
}

const mine = (messages: readonly Message[]): unknown[] => texts(messages).filter((text) => text !== "theirs");

test.for([
  ["session.add", (store: Store) => store.session("a").addItem(said("mine")), ["mine"]],
  ["session.replace", (store: Store) => store.session("a").replaceItems([said("mine")]), ["mine"]],
  ["run.begin", (store: Store) => turn(store, "a", 1), ["question 1", "answer 1"]],
  ["run.end", (store: Store) => turn(store, "a", 1), ["question 1", "answer 1"]],
] as const)(
  "a lost reply of %s is detected by its operation, however often another process wrote since",
  async (each) => {
    const [label, change, expected] = each;
    const driver = memoryDriver();
    const other = createStore(driver);
    const store = losing(driver, label, () => write([other], 60));
    await change(store);
    expect(mine(await other.session("a").getItems())).toEqual(expected);
    expect(await other.session("a").getItemCount()).toBe(60 + expected.length);
    expect((await other.runs.list()).map(({ status }) => status)).toEqual(
      label.startsWith("run.") ? ["completed"] : [],
    );
    expect(await other.verify()).toEqual([]);
  },
);

test("a lost reply that too many other writes followed is an error, and nothing is written twice", async () => {
  const driver = memoryDriver();
  const others = Array.from({ length: 40 }, () => createStore(driver));
  const store = losing(driver, "session.add", () => write(others, 1));
  const error = await store
    .session("a")
    .addItem(said("mine"))
    .catch((reason) => reason);
  expect(error).toMatchObject({ code: "store-connection" });
  expect(error.message).toMatch(/session "a", and too many other writes followed to tell whether it was stored/);
  expect(mine(await store.session("a").getItems())).toEqual(["mine"]);
  await store.session("a").addItem(said("more"));
  expect(mine(await store.session("a").getItems())).toEqual(["mine", "more"]);
});

test("forty concurrent writers that lose replies lose nothing and write nothing twice", async () => {
  const driver = memoryDriver();
  const stores = Array.from({ length: 40 }, () => createStore(unreliable(driver, every(4).isLost)));
  const told = await Promise.allSettled(
    stores.flatMap((store, s) => [1, 2, 3, 4].map((n) => store.session("a").addItem(said(`${s}.${n}`)))),
  );
  const there = texts(await createStore(driver).session("a").getItems());
  expect(new Set(there).size).toBe(there.length);
  told.forEach(({ status }, index) => {
    const text = `${Math.floor(index / 4)}.${(index % 4) + 1}`;
    if (status === "fulfilled") expect(there).toContain(text);
  });
});
