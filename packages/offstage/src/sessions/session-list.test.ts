import { expect, test } from "vitest";
import { activityKey } from "./activity.ts";
import { InMemorySession } from "./in-memory-session.ts";
import { memoryStore } from "./open-store.ts";
import { listNames } from "./row-keys.ts";
import { formatHead, newHead } from "./session-head.ts";
import { createStore } from "./store.ts";
import { memoryDriver } from "./stores/memory.ts";

test("a store with 150,000 sessions can be listed and pruned", { timeout: 60_000 }, async () => {
  const driver = memoryDriver();
  const store = createStore(driver);
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

test.for([
  [{ limti: 1 }, 'Unknown sessions.list() option "limti". Valid options: limit, before.'],
  [{ before: "junk" }, '"before" must be a "cursor" that the list returned; found "junk".'],
  [{ before: "" }, '"before" must be a "cursor"'],
  [{ before: 5 }, '"before" must be a "cursor"'],
  [null, "The sessions.list() options must be an object; found null."],
] as const)("sessions.list(%j) is refused", async ([options, sentence]) => {
  const failure = memoryStore().sessions.list(options as never);
  await expect(failure).rejects.toMatchObject({ code: "invalid-argument" });
  await expect(failure).rejects.toThrow(sentence);
});

test("runs.list() refuses a cursor that no list returned", async () => {
  const store = memoryStore();
  for (const listed of [store.runs.list({ before: "junk" }), store.session("a").runs({ before: "3NaN.1" })])
    await expect(listed).rejects.toThrow('"before" must be a "cursor" that the list returned');
});

test.for([[undefined], [null], [5]])("a namespace cannot be %s", ([name]) => {
  expect(() => memoryStore().namespace(name as never)).toThrow(`A namespace must be text; found ${name}.`);
});

test.for([
  ["in memory", () => new InMemorySession("a")],
  ["on a store", () => memoryStore().session("a")],
] as const)("a branch of a session %s needs a new id and refuses unknown options", async ([, open]) => {
  const session = open();
  await session.addItem({ role: "user", content: "hello" });
  await expect(session.branch(1, { sessionId: "b" } as never)).rejects.toThrow(
    'Unknown branch() option "sessionId". Valid options: id.',
  );
  await expect(session.branch(1, { id: "a" })).rejects.toMatchObject({ code: "session-conflict" });
  expect(await session.getItemCount()).toBe(1);
  expect((await session.branch(1, { id: "b" })).sessionId).toBe("b");
});
