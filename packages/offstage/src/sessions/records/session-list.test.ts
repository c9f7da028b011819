import { expect, test } from "vitest";
import { ended, start, turn } from "../../testing/store-claims/claim.ts";
import { memoryDriver } from "../drivers/memory/memory.ts";
import { newHead } from "../head/session-cell.ts";
import { InMemorySession } from "../in-memory-session.ts";
import { memoryStore } from "../open-store.ts";
import type { StoreDriver } from "../ports/store-driver.ts";
import { createStore } from "../store.ts";

test("a store with 150,000 sessions can be listed and pruned", { timeout: 60_000 }, async () => {
  const driver = memoryDriver();
  const store = createStore(driver);
  await store.session("s0").addItem({ role: "user", content: "the oldest" });
  const writes = Array.from({ length: 149_999 }, (_, n) => {
    const row = { ...newHead("", `s${n + 1}`), version: " another1", activity: n + 2 };
    return { table: "sessions", row } as const;
  });
  await driver.commit({ label: "session.add", checks: [], writes });
  expect((await store.sessions.list()).length).toBe(150_000);
  expect(await store.prune({ keepLast: 149_999 })).toEqual({ removedSessions: 1, busySessions: 0 });
  expect(await store.sessions.get("s0")).toBeUndefined();
});

test.for([
  [{ limti: 1 }, 'Unknown sessions.list() option "limti". Valid options: '],
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
  for (const listed of [store.runs.list({ before: "junk" }), store.session("a").runs({ before: "3.1" })])
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

test("a list that is read while another process writes to every session has all of them, each once", async () => {
  const driver = memoryDriver();
  const other = createStore(driver);
  const ids = Array.from({ length: 250 }, (_, n) => `s${n}`);
  for (const id of ids) await turn(other, id, 0);
  let turns = 0;
  const read: StoreDriver["read"] = async (range) => {
    const rows = await driver.read(range);
    if (range.table === "sessions" || range.table === "runs") await turn(other, ids[turns++ % 250] ?? "", `${turns}`);
    return rows;
  };
  const store = createStore({ ...driver, read });
  const listed = (await store.sessions.list()).map(({ sessionId }) => sessionId);
  expect(listed.sort()).toEqual([...ids].sort());
  const runs = (await store.runs.list()).map(({ runId }) => runId);
  expect(runs).toEqual(expect.arrayContaining(ids.map((id) => `run-${id}-0`)));
  expect(new Set(runs).size).toBe(runs.length);
});

test("pages of runs lose and repeat nothing, whatever the clocks of the processes say", async () => {
  const driver = memoryDriver();
  const store = createStore(driver);
  for (let n = 0; n < 30; n++) {
    const startedAt = new Date(Date.now() + (n % 3) * 3_600_000 - 3_600_000).toISOString();
    const log = await store.session(`s${n % 4}`).journal.open(start(`r${n}`, "?", { startedAt }));
    await log.end(ended("answer"));
  }
  const pages: string[] = [];
  for (let before: string | undefined; ; ) {
    const page = await store.runs.list({ limit: 7, ...(before !== undefined && { before }) });
    if (page.length === 0) break;
    pages.push(...page.map(({ runId }) => runId));
    before = page.at(-1)?.cursor;
    await turn(store, "meanwhile", pages.length);
  }
  expect(pages).toEqual(Array.from({ length: 30 }, (_, n) => `r${29 - n}`));
});
