import { expect, test } from "vitest";
import { turn } from "../testing/store-claims/claim.ts";
import { listNames, numberKey, stepKeys } from "./row-keys.ts";
import { createStore } from "./store.ts";
import type { StoreDriver, Write } from "./store-driver.ts";
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
  const store = createStore(driver);
  await turn(store, "a", 1);
  await turn(store, "a", 2);
  expect(await store.verify()).toEqual([]);
  await driver.commit({ label: "session.add", checks: [], writes });
  expect(await store.verify()).toEqual([expect.objectContaining({ problem })]);
});

test("a row that cannot be read is told of once, however many runs beside it are not in order", async () => {
  const driver = memoryDriver();
  const store = createStore(driver);
  for (let n = 1; n <= 4; n++) await turn(store, "a", n);
  const writes = [1, 2, 3].map((run) => ofRun(stepKeys.intent(run, 3), openCall));
  await driver.commit({
    label: "session.add",
    checks: [],
    writes: [...writes, write(lists.runs("a"), numberKey(0), "?")],
  });
  const problems = (await store.verify()).map(({ problem }) => problem);
  expect(problems.filter((problem) => problem.startsWith("Damage in"))).toHaveLength(1);
  expect(problems.filter((problem) => problem === "is completed and has an open step")).toHaveLength(3);
});

/** A store whose reads of a conversation are disturbed by somebody who adds to it. */
function disturbed(times: number) {
  const driver = memoryDriver();
  const other = createStore(driver);
  let left = times;
  const read: StoreDriver["read"] = async (list, range) => {
    if (list === lists.messages("a") && left-- > 0) await other.session("a").addItem({ role: "user", content: "?" });
    return driver.read(list, range);
  };
  return { driver, store: createStore({ ...driver, read }), other };
}

test("a session that is written to meanwhile is looked at again, and what is wrong with it found all the same", async () => {
  const { driver, store, other } = disturbed(3);
  await turn(other, "a", 1);
  await driver.commit({ label: "session.add", checks: [], writes: [message(1)] });
  expect(await store.verify()).toEqual([{ sessionId: "a", problem: "says 5 messages and has 4" }]);
});

test("one that is never left alone is told of, not passed for whole", async () => {
  const { store, other } = disturbed(Number.POSITIVE_INFINITY);
  await turn(other, "a", 1);
  expect(await store.verify()).toEqual([{ sessionId: "a", problem: expect.stringContaining("verify again") }]);
});

test("a session that is deleted meanwhile is no problem", async () => {
  const driver = memoryDriver();
  const other = createStore(driver);
  await turn(other, "a", 1);
  let isDeleted = false;
  const get: StoreDriver["get"] = async (places) => {
    if (!isDeleted && places.some(({ list }) => list === lists.run("run-a-1"))) {
      isDeleted = true;
      await other.sessions.delete("a");
    }
    return driver.get(places);
  };
  expect(await createStore({ ...driver, get }).verify()).toEqual([]);
  expect(isDeleted).toBe(true);
});
