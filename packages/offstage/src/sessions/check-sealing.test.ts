import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { said, texts } from "../testing/store-claims/claim.ts";
import { encryptedStore } from "./encrypted-store.ts";
import { sqliteStore } from "./open-store.ts";
import { PersistentSession } from "./persistent-session.ts";
import { createStore, type Store } from "./store.ts";
import { memoryDriver } from "./stores/memory.ts";

const key = new Uint8Array(32);

const uses: readonly (readonly [string, (store: Store) => Promise<unknown>])[] = [
  ["ready()", (store) => store.ready()],
  ["a list of sessions", (store) => store.sessions.list()],
  ["a list of runs", (store) => store.runs.list()],
  ["getItems()", (store) => store.session("a").getItems()],
  ["a write", (store) => store.session("b").addItem(said("new"))],
  ["verify()", (store) => store.verify()],
];

test.for(uses)("an encrypted store opened without encryption rejects %s and changes nothing", async ([, use]) => {
  const driver = memoryDriver();
  await encryptedStore(createStore(driver), { key }).session("a").addItem(said("secret"));
  const failure = use(createStore(driver));
  await expect(failure).rejects.toMatchObject({ code: "wrong-key" });
  await expect(failure).rejects.toThrow("is encrypted. Open it with encryptedStore()");
  expect((await encryptedStore(createStore(driver), { key }).sessions.list()).length).toBe(1);
});

test.for(uses)("an unencrypted store opened with encryption rejects %s and changes nothing", async ([, use]) => {
  const driver = memoryDriver();
  await createStore(driver).session("a").addItem(said("plain"));
  const failure = use(encryptedStore(createStore(driver), { key }));
  await expect(failure).rejects.toMatchObject({ code: "wrong-key" });
  await expect(failure).rejects.toThrow("is not encrypted. Open it without encryptedStore()");
  expect(await driver.read("e")).toEqual([]);
  expect(texts(await createStore(driver).session("a").getItems())).toEqual(["plain"]);
});

test("an empty store can be opened with or without encryption, and so can each namespace", async () => {
  const driver = memoryDriver();
  await encryptedStore(createStore(driver), { key }).ready();
  await createStore(driver).session("a").addItem(said("plain"));
  const vault = encryptedStore(createStore(driver), { key });
  await vault.namespace("tenant").session("a").addItem(said("secret"));
  await expect(vault.sessions.list()).rejects.toMatchObject({ code: "wrong-key" });
  await expect(createStore(driver).namespace("tenant").sessions.list()).rejects.toMatchObject({ code: "wrong-key" });
  expect(await createStore(driver).session("a").getItemCount()).toBe(1);
});

test("a session in an encrypted file is refused without the key", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "offstage-sealed-")), "a.db");
  await using vault = encryptedStore(sqliteStore({ path }), { key });
  await vault.session("a").addItem(said("secret"));
  await expect(PersistentSession.persistent("a", { path })).rejects.toMatchObject({ code: "wrong-key" });
});

test.for([":memory:", "b.db"])("a backup of the wrapped store contains the encrypted rows, in %s", async (name) => {
  const folder = mkdtempSync(join(tmpdir(), "offstage-sealed-"));
  const path = name === ":memory:" ? name : join(folder, name);
  const inner = sqliteStore({ path });
  await using vault = encryptedStore(inner, { key });
  await vault.session("a").addItem(said("secret"));
  await expect(inner.verify()).rejects.toMatchObject({ code: "wrong-key" });
  await inner.backup(join(folder, "copy.db"));
  await using copy = encryptedStore(sqliteStore({ path: join(folder, "copy.db") }), { key });
  for (const store of [vault, copy]) expect(texts(await store.session("a").getItems())).toEqual(["secret"]);
});

test("a check that failed is repeated on the next use", async () => {
  const driver = memoryDriver();
  await encryptedStore(createStore(driver), { key }).session("a").addItem(said("secret"));
  const store = createStore(driver);
  await expect(store.ready()).rejects.toMatchObject({ code: "wrong-key" });
  await encryptedStore(createStore(driver), { key }).sessions.delete("a");
  await store.session("a").addItem(said("plain"));
  expect(await store.session("a").getItemCount()).toBe(1);
});
