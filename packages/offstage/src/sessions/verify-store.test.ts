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
  ["should have 4 messages and has 3", [message(1)]],
  ["has a message past its end", [message(0), message(99, '["u","?"]')]],
  ["is listed at a wrong position", [{ list: lists.activity, key: `${numberKey(5)}.a`, value: '"a"' }]],
  ["has step 2 at position 1", [ofRun(stepKeys.step(0, 1)), ofRun(stepKeys.intent(0, 1))]],
  ["is completed but has an open step", [ofRun(stepKeys.intent(0, 3), openCall)]],
])("verify() reports what is wrong, and nothing else: %s", async (problem, writes) => {
  const driver = memoryDriver();
  const store = createStore(driver);
  await turn(store, "a", 1);
  await turn(store, "a", 2);
  expect(await store.verify()).toEqual([]);
  await driver.commit({ label: "session.add", checks: [], writes });
  expect(await store.verify()).toEqual([expect.objectContaining({ problem })]);
});

test("verify() reports an unreadable row once, however many runs have problems", async () => {
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
  expect(problems.filter((problem) => problem === "is completed but has an open step")).toHaveLength(3);
});

/** A store in which another process adds a message during reads of the conversation. */
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

test("verify() checks a session again if it changed meanwhile, and still finds its problems", async () => {
  const { driver, store, other } = disturbed(3);
  await turn(other, "a", 1);
  await driver.commit({ label: "session.add", checks: [], writes: [message(1)] });
  expect(await store.verify()).toEqual([{ sessionId: "a", problem: "should have 5 messages and has 4" }]);
});

test("verify() reports a session that changes during every check", async () => {
  const { store, other } = disturbed(Number.POSITIVE_INFINITY);
  await turn(other, "a", 1);
  expect(await store.verify()).toEqual([{ sessionId: "a", problem: expect.stringContaining("verify again") }]);
});

test("verify() ignores a session that is deleted meanwhile", async () => {
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
