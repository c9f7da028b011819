import { expect, test } from "vitest";
import { turn } from "../testing/store-claims/claim.ts";
import { listNames, numberKey, stepKeys } from "./row-keys.ts";
import { openStoreOn } from "./store.ts";
import type { Write } from "./store-driver.ts";
import { memoryDriver } from "./stores/memory.ts";

const lists = listNames("");
const write = (list: string, key: string, value?: string): Write =>
  value === undefined ? { list, key } : { list, key, value };
const message = (position: number, value?: string) => write(lists.messages("a"), numberKey(position), value);
const ofRun = (key: string, value?: string) => write(lists.steps("a"), key, value);
const openCall = '["a",null,[".2","2026-01-01T00:00:00.000Z",1,1,1],[["c","f","{}"]]]';

test.each<[string, readonly Write[]]>([
  ["says 4 messages and has 3", [message(1)]],
  ["has a message past its end", [message(0), message(99, '["u","?"]')]],
  ["is listed at a wrong place", [{ list: lists.activity, key: `${numberKey(5)}.a`, value: '"a"' }]],
  ["has step 2 at place 1", [ofRun(stepKeys.step(0, 1)), ofRun(stepKeys.intent(0, 1))]],
  ["is completed and has an open step", [ofRun(stepKeys.intent(0, 3), openCall)]],
])("what %s is found out, and only that", async (problem, writes) => {
  const driver = memoryDriver();
  const store = openStoreOn(driver);
  await turn(store, "a", 1);
  await turn(store, "a", 2);
  expect(await store.verify()).toEqual([]);
  await driver.commit({ label: "session.add", checks: [], writes });
  const found = await store.verify();
  expect(found.map((each) => each.problem)).toContain(problem);
  expect(found).toHaveLength(1);
});
