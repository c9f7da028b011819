import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { rowsIn } from "../../test/support/stored-rows.ts";
import { calling, ended, open, resultOf, said, start, step, texts, turn } from "../testing/store-claims/claim.ts";
import type { SpanData } from "../tracing/span-data.ts";
import { memoryStore, openStore, sqliteStore } from "./open-store.ts";
import { PersistentSession } from "./persistent-session.ts";
import { storeSource } from "./store.ts";

const folder = mkdtempSync(join(tmpdir(), "offstage-open-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("an address chooses the store", async () => {
  for (const [url, name] of [
    ["memory:", /memory/],
    [`sqlite:${folder}/a.db`, /a\.db/],
    [`sqlite://${folder}/b.db`, /b\.db/],
    ["sqlite::memory:", /memory/],
  ] as const) {
    const store = openStore(url);
    await store.session("s").addItem(said("x"));
    expect(store.name).toMatch(name);
    await store.close();
  }
  expect(openStore("postgres://localhost/x").name).toMatch(/Postgres/);
  expect(openStore("redis://localhost").name).toMatch(/Redis/);
  expect(() => openStore("mongodb://localhost")).toThrow(/mongodb.*sqlite/);
  expect(() => openStore("offstage.db")).toThrow(/sqlite/);
});

test("no file is created before first use", async () => {
  const path = join(folder, "unused.db");
  const store = sqliteStore({ path });
  await store.close();
  expect(existsSync(path)).toBe(false);
});

test("a missing folder is an error that names it, and is not created", async () => {
  const path = join(folder, "deep/er/store.db");
  const missing = { code: "store-failed", message: expect.stringContaining(`the folder "${join(folder, "deep/er")}"`) };
  await expect(PersistentSession.persistent("s", { path })).rejects.toMatchObject(missing);
  await expect(sqliteStore({ path }).session("s").addItem(said("x"))).rejects.toMatchObject(missing);
  await using store = sqliteStore({ path: join(folder, "backed-up.db") });
  await expect(store.backup(path)).rejects.toMatchObject(missing);
  expect(existsSync(join(folder, "deep"))).toBe(false);
});

test("a closed store refuses every method, also when there is nothing to read or write", async () => {
  const store = memoryStore();
  const session = store.session("s");
  await session.addItem(said("x"));
  await store.close();
  const calls = {
    addItems: () => session.addItems([]),
    getItems: () => session.getItems(0),
    "spans.add": () => store.spans.add([]),
    "runs.list": () => store.runs.list({ limit: 0 }),
    "sessions.list": () => store.sessions.list({ limit: 0 }),
    ready: () => store.ready(),
  };
  for (const [name, call] of Object.entries(calls))
    await expect(call(), name).rejects.toMatchObject({ code: "store-closed" });
});

test("a persistent session can be opened again, beside others in the same file", async () => {
  const path = join(folder, "again.db");
  for (const id of ["a", "b"]) {
    const session = await PersistentSession.persistent(id, { path });
    await session.addItems([said(`1 of ${id}`), said(`2 of ${id}`)]);
    await session.popItem();
    await session.close();
    await session.close();
  }
  const again = await PersistentSession.persistent("a", { path });
  expect(texts(await again.getItems())).toEqual(["1 of a"]);
  await again.close();
  await expect(again.getItems()).rejects.toMatchObject({ code: "store-closed" });
});

test("sessions in memory share nothing", async () => {
  await using one = await PersistentSession.inMemory("same");
  await using other = await PersistentSession.inMemory("same");
  await one.addItem(said("x"));
  expect(await other.isEmpty()).toBe(true);
});

test("closing a session on a store leaves the store open", async () => {
  const store = memoryStore();
  const session = await PersistentSession.on(store, "s");
  await session.addItem(said("x"));
  await session.close();
  expect(await store.session("s").getItemCount()).toBe(1);
});

test("a backup is a complete store, written while the original is in use", async () => {
  const path = join(folder, "backup.db");
  const store = sqliteStore({ path: join(folder, "source.db") });
  for (let n = 0; n < 50; n++) await turn(store, "s", n);
  await Promise.all([store.backup(path), turn(store, "s", "meanwhile")]);
  await expect(store.backup(path)).rejects.toMatchObject({ code: "invalid-argument" });
  await store.close();
  const copy = sqliteStore({ path });
  expect(await copy.session("s").getItemCount()).toBeGreaterThanOrEqual(100);
  expect(await copy.verify()).toEqual([]);
  await copy.close();
});

test("a hundred backups during continuous writes are all complete", async () => {
  const store = sqliteStore({ path: join(folder, "busy.db") });
  let isWriting = true;
  const writing = (async () => {
    for (let n = 0; isWriting; n++) {
      await store.session("s").addItem(said(`item ${n}`));
      await setImmediate();
    }
  })();
  for (let n = 0; n < 100; n++) await store.backup(join(folder, `busy-${n}.db`));
  isWriting = false;
  await writing;
  await store.close();
  const copy = sqliteStore({ path: join(folder, "busy-99.db") });
  expect(await copy.verify()).toEqual([]);
  await copy.close();
}, 30_000);

test("redacted text is never written, in the conversation or in the journal", async () => {
  const store = memoryStore({
    redact: (message) => JSON.parse(JSON.stringify(message).replaceAll("secret", "[redacted]")),
  });
  await store.session("s").addItem(said("a secret"));
  const log = await open(store, "s", start("outer", "ask a secret"));
  await log.step(step(1, [calling("c"), resultOf("c", "a secret")]));
  await (await log.child(start("inner", "a secret"))).end(ended("told"));
  await log.end(ended("a secret"));
  const runs = await Promise.all(["outer", "inner"].map((runId) => store.runs.get(runId)));
  const rows = await rowsIn(await store[storeSource].load());
  for (const all of [await store.session("s").transcript(), runs, rows].map((each) => JSON.stringify(each))) {
    expect(all).toContain("[redacted]");
    expect(all).not.toContain("secret");
  }
});

test('SQLite accepts durability "full"', async () => {
  const store = sqliteStore({ path: join(folder, "full.db"), durability: "full" });
  await turn(store, "s", 1);
  expect(await store.session("s").getItemCount()).toBe(2);
  await store.close();
});

test("a session with its own file accepts the options of a SQLite store", async () => {
  const path = join(folder, "small.db");
  await using session = await PersistentSession.persistent("s", { path, maxBytes: 400_000 });
  await expect(session.addItem(said("x".repeat(1_000_000)))).rejects.toMatchObject({ code: "store-full" });
});

test("a run whose store was closed rejects with store-closed", async () => {
  const store = memoryStore();
  const log = await open(store, "s", start("r1", "one"));
  await store.close();
  await expect(log.end(ended("late"))).rejects.toMatchObject({ code: "store-closed" });
});

test.for([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e300])(
  "a span with the start time %d does not affect the times of others",
  async (startTime) => {
    const traceId = "0af7651916cd43dd8448eb211c80319c";
    const span = (spanId: string, at: number): SpanData => {
      const times = { startTime: at, endTime: at + 1.5, duration: 1.5 };
      return { traceId, spanId, name: spanId, kind: "custom", status: "ok", metadata: {}, ...times };
    };
    const [first, second, third] = [span("a", 1767225600000.125), span("c", 1767225600002), span("d", 1767225600001)];
    await using store = memoryStore();
    await store.spans.add([first, span("b", startTime), second, third]);
    const read = await store.spans.list({ traceId });
    expect(read.filter(({ spanId }) => spanId !== "b")).toEqual([first, third, second]);
    expect(read.map(({ spanId }) => spanId)).toContain("b");
    expect(read.every((each) => Number.isFinite(each.startTime))).toBe(true);
  },
);
