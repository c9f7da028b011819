import { expect, test } from "vitest";
import { said, texts } from "../../testing/store-claims/claim.ts";
import { memoryDriver } from "../drivers/memory/memory.ts";
import { createStore, type Store } from "../store.ts";

/** A store with two idle sessions; `meanwhile` is called after prune() has listed them, when it removes the first. */
async function prunedStore(meanwhile: (store: Store) => Promise<unknown>): Promise<Store> {
  const driver = memoryDriver();
  const other = createStore(driver);
  let deletes = 0;
  const store = createStore({
    ...driver,
    commit: async (commit) => {
      if (commit.label === "session.delete" && deletes++ === 0) await meanwhile(other);
      return driver.commit(commit);
    },
  });
  for (const id of ["returning", "idle"]) await store.session(id).addItem(said("long ago"));
  return store;
}

test.for([{ olderThan: new Date(Date.now() + 60_000) }, { keepLast: 0 }])(
  "a session that became active after prune(%j) listed it stays",
  async (options) => {
    const store = await prunedStore((other) => other.session("returning").addItem(said("I am back.")));
    expect(await store.prune(options)).toEqual({ removedSessions: 1, busySessions: 0 });
    expect(texts(await store.session("returning").getItems())).toEqual(["long ago", "I am back."]);
    expect(await store.sessions.get("idle")).toBeUndefined();
  },
);

test("a session that another process deletes meanwhile is not counted", async () => {
  const store = await prunedStore((other) => other.sessions.delete("returning"));
  expect(await store.prune({ keepLast: 0 })).toEqual({ removedSessions: 1, busySessions: 0 });
  expect(await store.sessions.list()).toEqual([]);
});

test("a session that became active while prune() listed it stays, and the list shows it once", async () => {
  const driver = memoryDriver();
  const other = createStore(driver);
  for (const id of ["old", "newer"]) await other.session(id).addItem(said("long ago"));
  let isRead = false;
  const read: typeof driver.read = async (range) => {
    const rows = await driver.read(range);
    if (range.table === "sessions" && range.limit === undefined && !isRead) {
      isRead = true;
      await other.session("old").addItem(said("I am back."));
    }
    return rows;
  };
  const store = createStore({ ...driver, read });
  expect(await store.prune({ keepLast: 1 })).toEqual({ removedSessions: 0, busySessions: 0 });
  expect(texts(await other.session("old").getItems())).toEqual(["long ago", "I am back."]);
  isRead = false;
  expect((await store.sessions.list()).map(({ sessionId }) => sessionId).sort()).toEqual(["newer", "old"]);
});
