import { expect, test } from "vitest";
import { OffstageError } from "../../src/errors.ts";
import { openStoreOn, type Store } from "../../src/sessions/store.ts";
import type { StoreDriver } from "../../src/sessions/store-driver.ts";
import { memoryDriver } from "../../src/sessions/stores/memory.ts";
import { said, texts, turn } from "../../src/testing/store-claims/claim.ts";

const lost = () => new OffstageError("store-connection", "The connection was lost.");

/** A driver that loses replies of commits: some before, most after they took effect. */
function unreliable(driver: StoreDriver, isLost: () => "before" | "after" | undefined): StoreDriver {
  return {
    ...driver,
    commit: async (commit) => {
      const when = isLost();
      if (when === "before") throw lost();
      const refused = await driver.commit(commit);
      if (when === "after") throw lost();
      return refused;
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
  return openStoreOn(unreliable(memoryDriver(), isLost));
}

test("500 lost replies: no turn is missing and none is twice", { timeout: 60_000 }, async () => {
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

test("a connection that stays lost is told after a bounded number of tries", async () => {
  const store = open(() => "before");
  await expect(store.session("a").addItem(said("x"))).rejects.toMatchObject({ code: "store-connection" });
});

test("a reply that is lost while another process writes is still known by its operation", async () => {
  const driver = memoryDriver();
  let isOther = false;
  const other = openStoreOn(driver);
  const store = openStoreOn({
    ...driver,
    commit: async (commit) => {
      const refused = await driver.commit(commit);
      if (commit.label !== "session.add" || isOther) return refused;
      isOther = true;
      await other.session("a").addItem(said("theirs"));
      throw lost();
    },
  });
  await store.session("a").addItem(said("mine"));
  expect(texts(await store.session("a").getItems())).toEqual(["mine", "theirs"]);
});
