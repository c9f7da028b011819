// A namespace says in its row whether it is plain or encrypted, and with which keys.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { putRows, rowsIn } from "../../../test/support/stored-rows.ts";
import { ended, open, said, start, texts, turn } from "../../testing/store-claims/claim.ts";
import type { SpanData } from "../../tracing/span-data.ts";
import { memoryDriver } from "../drivers/memory/memory.ts";
import { sqliteDriver } from "../drivers/sqlite/sqlite.ts";
import { type EncryptedStore, type EncryptedStoreOptions, encryptedStore } from "../encrypted-store.ts";
import { sqliteStore } from "../open-store.ts";
import { PersistentSession } from "../persistent-session.ts";
import type { StoreDriver } from "../ports/store-driver.ts";
import { createStore, type Store } from "../store.ts";

const folder = mkdtempSync(join(tmpdir(), "offstage-sealed-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const key = new Uint8Array(32);

function vaultOn(driver: StoreDriver, options: Partial<EncryptedStoreOptions> = {}): EncryptedStore {
  return encryptedStore(createStore(driver), { key, ...options });
}

const looseSpan: SpanData = {
  ...{ traceId: "f".repeat(32), spanId: "a".repeat(16), name: "work", kind: "custom", metadata: {} },
  ...{ startTime: 1, endTime: 2, duration: 1, status: "ok" },
};

const uses: readonly (readonly [string, (store: Store) => Promise<unknown>])[] = [
  ["ready()", (store) => store.ready()],
  ["a list of sessions", (store) => store.sessions.list()],
  ["a list of runs", (store) => store.runs.list()],
  ["getItems()", (store) => store.session("a").getItems()],
  ["getItemCount()", (store) => store.session("a").getItemCount()],
  ["a run", (store) => open(store, "a", start("r", "question"))],
  ["a write", (store) => store.session("b").addItem(said("new"))],
  ["clearing a session", (store) => store.session("a").clearSession()],
  ["deleting a session", (store) => store.sessions.delete("a")],
  ["prune()", (store) => store.prune({ keepLast: 0 })],
  ["a span", (store) => store.spans.add([looseSpan])],
  ["a memory", (store) => store.memory("m").addItems([said("new")])],
  ["a search", (store) => store.search({ text: "secret" })[Symbol.asyncIterator]().next()],
  ["numbers()", (store) => store.numbers()],
  ["verify()", (store) => store.verify()],
];

describe("an encrypted store opened without encryption", () => {
  test.for(uses)("rejects %s and changes nothing", async ([, use]) => {
    const driver = memoryDriver();
    await vaultOn(driver).session("a").addItem(said("secret"));
    const before = await rowsIn(driver);
    const failure = use(createStore(driver));
    await expect(failure).rejects.toMatchObject({ code: "wrong-key" });
    await expect(failure).rejects.toThrow("is encrypted. Open it with encryptedStore()");
    expect(await rowsIn(driver)).toEqual(before);
  });
});

describe("an unencrypted store opened with encryption", () => {
  test.for(uses)("rejects %s and changes nothing", async ([, use]) => {
    const driver = memoryDriver();
    await createStore(driver).session("a").addItem(said("plain"));
    const before = await rowsIn(driver);
    const failure = use(vaultOn(driver));
    await expect(failure).rejects.toMatchObject({ code: "wrong-key" });
    await expect(failure).rejects.toThrow("is not encrypted. Open it without encryptedStore()");
    expect(await rowsIn(driver)).toEqual(before);
    expect(texts(await createStore(driver).session("a").getItems())).toEqual(["plain"]);
  });
});

describe.for([
  ["the same id", {}, 'encrypted with another key than the one passed as "1"'],
  ["another id", { keyId: "2" }, 'was encrypted with key "1", and only key "2" was passed'],
  ["the same id as an earlier key", { keyId: "2", earlierKeys: { 1: randomBytes(32) } }, 'passed as "1"'],
] as const)("a wrong key under %s", ([, options, sentence]) => {
  test.for([...uses, ["rotate()", (store: Store) => (store as EncryptedStore).rotate()] as const])(
    "is refused before %s, and nothing is written or deleted",
    async ([, use]) => {
      const driver = memoryDriver();
      await turn(vaultOn(driver), "a", 1);
      const before = await rowsIn(driver);
      const failure = use(vaultOn(driver, { key: randomBytes(32), ...options }));
      await expect(failure).rejects.toMatchObject({ code: "wrong-key" });
      await expect(failure).rejects.toThrow(sentence);
      expect(await rowsIn(driver)).toEqual(before);
      expect(texts(await vaultOn(driver).session("a").getItems())).toEqual(["question 1", "answer 1"]);
    },
  );
});

test("an empty store can be opened with or without encryption, and so can each namespace", async () => {
  const driver = memoryDriver();
  await vaultOn(driver).ready();
  await createStore(driver).session("a").addItem(said("plain"));
  const vault = vaultOn(driver);
  await vault.namespace("tenant").session("a").addItem(said("secret"));
  await expect(vault.sessions.list()).rejects.toMatchObject({ code: "wrong-key" });
  await expect(createStore(driver).namespace("tenant").sessions.list()).rejects.toMatchObject({ code: "wrong-key" });
  expect(await createStore(driver).session("a").getItemCount()).toBe(1);
});

test("reading an empty store does not decide whether it is encrypted", async () => {
  const driver = memoryDriver();
  for (const store of [createStore(driver), vaultOn(driver)]) {
    expect(await store.sessions.list()).toEqual([]);
    expect(await store.session("a").getItems()).toEqual([]);
    expect(await store.verify()).toEqual([]);
  }
  expect(await rowsIn(driver)).toEqual([]);
});

const kinds: readonly (readonly [string, (store: Store) => Promise<unknown>])[] = [
  ["a span", (store) => store.spans.add([looseSpan])],
  ["a memory", (store) => store.memory("m").addItems([said("x")])],
  ["a title", (store) => store.session("a").describe({ title: "x" })],
];

test.for(kinds)("a namespace that contains only %s is recognised as plain or encrypted too", async ([, write]) => {
  const [sealed, plain] = [memoryDriver(), memoryDriver()];
  await write(vaultOn(sealed));
  await write(createStore(plain));
  await expect(createStore(sealed).ready()).rejects.toMatchObject({ code: "wrong-key" });
  await expect(vaultOn(plain).ready()).rejects.toMatchObject({ code: "wrong-key" });
});

test("a namespace stays encrypted when its last session is deleted", async () => {
  const driver = memoryDriver();
  await vaultOn(driver).session("a").addItem(said("secret"));
  await vaultOn(driver).sessions.delete("a");
  await expect(createStore(driver).session("a").addItem(said("plain"))).rejects.toMatchObject({ code: "wrong-key" });
});

describe("two stores that were opened while the namespace was empty", () => {
  const makers = [
    ["plain, then encrypted", (driver: StoreDriver) => [createStore(driver), vaultOn(driver)]],
    ["encrypted, then plain", (driver: StoreDriver) => [vaultOn(driver), createStore(driver)]],
    ["with two keys", (driver: StoreDriver) => [vaultOn(driver), vaultOn(driver, { key: randomBytes(32) })]],
    [
      "with two keys of two names",
      (driver: StoreDriver) => [vaultOn(driver), vaultOn(driver, { key: randomBytes(32), keyId: "2" })],
    ],
  ] as const;

  test.for(makers)("never mix their rows: %s", async ([, make]) => {
    const driver = memoryDriver();
    const [first, second] = make(driver) as [Store, Store];
    await Promise.all([first.ready(), second.ready()]);
    await first.session("a").addItem(said("first"));
    const before = await rowsIn(driver);
    for (const [, use] of uses.slice(1)) await expect(use(second)).rejects.toMatchObject({ code: "wrong-key" });
    expect(await rowsIn(driver)).toEqual(before);
    expect(texts(await first.session("a").getItems())).toEqual(["first"]);
  });

  test.for(makers)("and write at the same time never mix their rows: %s", async ([, make], { task }) => {
    for (const named of ["memory", "SQLite"]) {
      const path = join(folder, `${task.id}.db`);
      const shared = memoryDriver();
      const driver = (): StoreDriver => (named === "memory" ? shared : sqliteDriver({ path }));
      const stores = [make(driver())[0], make(driver())[1]] as [Store, Store];
      await Promise.all(stores.map((store) => store.ready()));
      const told = await Promise.allSettled(stores.map((store) => store.session("a").addItem(said("mine"))));
      expect(told.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      const winner = stores[told.findIndex(({ status }) => status === "fulfilled")] as Store;
      expect(texts(await winner.session("a").getItems())).toEqual(["mine"]);
      expect(await winner.verify()).toEqual([]);
      for (const store of stores) await store.close();
    }
  });
});

test("two stores with the same key begin a namespace at the same time", async () => {
  const driver = memoryDriver();
  const stores = [vaultOn(driver), vaultOn(driver, { keyId: "2", earlierKeys: { 1: key } }), vaultOn(driver)];
  await Promise.all(stores.map((store, n) => store.session(`s${n}`).addItem(said(`${n}`))));
  const reader = vaultOn(driver, { keyId: "2", earlierKeys: { 1: key } });
  expect(await reader.sessions.list()).toHaveLength(3);
  expect(await reader.verify()).toEqual([]);
});

describe("a row under a key that was not passed", () => {
  /** A store whose session "b" and one message of "a" are encrypted with a second key, opened with the first key only. */
  async function halfKnown() {
    const driver = memoryDriver();
    const second = { key: randomBytes(32), keyId: "2" };
    const both = vaultOn(driver, { ...second, earlierKeys: { 1: key } });
    await turn(vaultOn(driver), "a", 1);
    await both.session("b").addItem(said("theirs"));
    await vaultOn(driver).session("a").addItem(said("known"));
    const [row] = await driver.read({ table: "messages", order: "said", prefix: ["", "a"], limit: 1 });
    const sealed = "1.2.AAAAAAAAAAAAAAAA.BBBBBBBBBBBBBBBBBBBBBBBBBBBB";
    await putRows(driver, { table: "messages", row: { ...row, content: sealed } });
    const reported: string[] = [];
    const store = vaultOn(driver, { onError: ({ code, message }) => reported.push(`${code}: ${message}`) });
    return { driver, store, both, reported };
  }

  test("is damage of that row only: everything else is read, listed, written and verified", async () => {
    const { store, reported } = await halfKnown();
    expect(texts(await store.session("a").getItems())).toEqual(["answer 1", "known"]);
    expect((await store.sessions.list()).map(({ sessionId }) => sessionId)).toEqual(["a"]);
    expect(await store.runs.list()).toHaveLength(1);
    expect(reported).toHaveLength(2);
    for (const line of reported)
      expect(line).toMatch(/^store-corrupt: .*encrypted with key "2", which was not passed.*earlierKeys/);
    expect((await store.verify()).map(({ problem }) => problem).join()).toContain('key "2"');
    await turn(store, "a", 2);
    await turn(store, "c", 1);
    expect(texts(await store.session("a").getItems(2))).toEqual(["question 2", "answer 2"]);
  });

  test("is neither deleted nor changed by prune() and rotate()", async () => {
    const { driver, store, both } = await halfKnown();
    const before = await driver.read({ table: "messages", prefix: ["", "b"] });
    await store.rotate();
    expect(await store.prune({ keepLast: 0 })).toEqual({ removedSessions: 1, busySessions: 0 });
    expect(await driver.read({ table: "messages", prefix: ["", "b"] })).toEqual(before);
    expect(texts(await both.session("b").getItems())).toEqual(["theirs"]);
  });
});

test.for([
  ["no JSON", "{"],
  ["a list", "[]"],
  ["no proof", "{}"],
  ["empty", null],
  ["a proof of another namespace", undefined],
] as const)("a damaged proof of the key is an error, and nothing is written: %s", async ([, found]) => {
  const driver = memoryDriver();
  const vault = vaultOn(driver);
  await vault.session("a").addItem(said("secret"));
  await vault.namespace("other").session("a").addItem(said("secret"));
  const places = ["", "other"].map((name) => ({ table: "namespaces" as const, key: [name] }));
  const [row, other] = await driver.get(places);
  const key_proofs = found === undefined ? (other?.key_proofs ?? null) : found;
  await putRows(driver, { table: "namespaces", row: { ...row, key_proofs } });
  const before = await rowsIn(driver);
  await expect(vaultOn(driver).session("a").addItem(said("new"))).rejects.toMatchObject({
    code: expect.stringMatching(/^(store-corrupt|wrong-key)$/),
  });
  expect(await rowsIn(driver)).toEqual(before);
});

test("a namespace whose row does not say whether it is encrypted is an error, for every store", async () => {
  const driver = memoryDriver();
  await vaultOn(driver).session("a").addItem(said("secret"));
  const [row] = await driver.get([{ table: "namespaces", key: [""] }]);
  await putRows(driver, { table: "namespaces", row: { ...row, is_sealed: 7 } });
  const before = await rowsIn(driver);
  for (const store of [createStore(driver), vaultOn(driver)])
    for (const [, use] of uses) await expect(use(store)).rejects.toMatchObject({ code: "store-corrupt" });
  expect(await rowsIn(driver)).toEqual(before);
});

test("a session in an encrypted file is refused without the key", async () => {
  const path = join(folder, "a.db");
  await using vault = encryptedStore(sqliteStore({ path }), { key });
  await vault.session("a").addItem(said("secret"));
  await expect(PersistentSession.persistent("a", { path })).rejects.toMatchObject({ code: "wrong-key" });
});

test.for([":memory:", "b.db"])("a backup of the wrapped store contains the encrypted rows, in %s", async (name) => {
  const path = name === ":memory:" ? name : join(folder, name);
  const inner = sqliteStore({ path });
  await using vault = encryptedStore(inner, { key });
  await vault.session("a").addItem(said("secret"));
  await expect(inner.verify()).rejects.toMatchObject({ code: "wrong-key" });
  const target = join(folder, `copy-${path.length}.db`);
  await inner.backup(target);
  await using copy = encryptedStore(sqliteStore({ path: target }), { key });
  for (const store of [vault, copy]) expect(texts(await store.session("a").getItems())).toEqual(["secret"]);
});

test("a check that failed is repeated on the next use", async () => {
  const driver = memoryDriver();
  await vaultOn(driver).session("a").addItem(said("secret"));
  let isBroken = true;
  const get: StoreDriver["get"] = (places) =>
    isBroken ? Promise.reject(new Error("the disk is gone")) : driver.get(places);
  const store = vaultOn({ ...driver, get });
  await expect(store.ready()).rejects.toMatchObject({ code: "store-failed" });
  isBroken = false;
  const log = await open(store, "a", start("r", "question"));
  await log.end(ended("answer"));
  expect(await store.session("a").getItemCount()).toBe(3);
});
