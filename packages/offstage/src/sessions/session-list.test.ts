import { expect, test } from "vitest";
import { activityKey } from "./activity.ts";
import { listNames } from "./row-keys.ts";
import { formatHead, newHead } from "./session-head.ts";
import { openStoreOn } from "./store.ts";
import { memoryDriver } from "./stores/memory.ts";

test("a store of 150,000 sessions is listed and pruned", async () => {
  const driver = memoryDriver();
  const store = openStoreOn(driver);
  await store.ready();
  const lists = listNames("");
  const writes = Array.from({ length: 150_000 }, (_, n) => {
    const head = { ...newHead(`s${n}`, 0), active: n + 1, listed: n + 1 };
    return [
      { list: lists.activity, key: activityKey(head), value: JSON.stringify(head.id) },
      { list: lists.head(head.id), key: "head", value: formatHead(head) },
    ];
  });
  await driver.commit({ label: "session.add", checks: [], writes: writes.flat() });
  expect((await store.sessions.list()).length).toBe(150_000);
  expect(await store.prune({ keepLast: 149_999 })).toEqual({ removedSessions: 1, busySessions: 0 });
});
