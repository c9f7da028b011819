import { randomBytes } from "node:crypto";
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import type { Message } from "../messages/message.ts";
import { sessionStoreContract } from "../testing/session-store-contract.ts";
import { turn } from "../testing/store-claims/claim.ts";
import type { SpanData } from "../tracing/span-data.ts";
import { encryptedStore } from "./encrypted-store.ts";
import { openStore } from "./open-store.ts";
import type { Store } from "./store.ts";
import { createStore, storeDriver } from "./store.ts";
import type { CoreOptions } from "./store-core.ts";
import type { Row, StoreDriver } from "./store-driver.ts";
import { memoryDriver } from "./stores/memory.ts";

const key = randomBytes(32);
const secret = "the secret word";

function open(
  driver: StoreDriver = memoryDriver(),
  options: Partial<Parameters<typeof encryptedStore>[1]> = {},
): Store {
  return encryptedStore(createStore(driver), { key, ...options });
}

async function put(driver: StoreDriver, list: string, row: Row): Promise<void> {
  await driver.commit({ label: "session.add", checks: [], writes: [{ list, key: row.key, value: row.value }] });
}

const looseSpan = (traceId: string): SpanData => ({
  ...{ traceId, spanId: "a".repeat(16), name: "work", kind: "custom", metadata: {} },
  ...{ startTime: 1, endTime: 2, duration: 1, status: "ok" },
});

describe("an encrypted store", () => {
  for (const { name, run } of sessionStoreContract(() => open())) test(name, run);
});

test("namespaces of the wrapped store stay separate", async () => {
  const base = createStore(memoryDriver());
  const a = encryptedStore(base.namespace("a"), { key });
  const b = encryptedStore(base.namespace("b"), { key });
  await a.session("s").addItem({ role: "user", content: secret });
  expect(await b.session("s").getItems()).toEqual([]);
  expect(await a.session("s").getItemCount()).toBe(1);
  const named = encryptedStore(createStore(memoryDriver(), { namespace: "a" }), { key, namespace: "c" });
  await named.session("s").addItem({ role: "user", content: secret });
  expect(await named.namespace("c").session("s").getItemCount()).toBe(1);
});

test("an undefined option keeps the option of the wrapped store", async () => {
  const base = createStore(memoryDriver(), { redact: (message) => ({ ...message, content: "redacted" }) as Message });
  const undefinedOptions = { key, namespace: undefined, redact: undefined, onError: undefined } as never;
  const a = encryptedStore(base.namespace("a"), undefinedOptions);
  await a.session("s").addItem({ role: "user", content: secret });
  expect(await encryptedStore(base, { key }).session("s").getItems()).toEqual([]);
  expect(await a.session("s").getItems()).toMatchObject([{ content: "redacted" }]);
});

test("a store shows neither its key nor its address", () => {
  const text = "0123456789abcdef0123456789abcdef";
  const stores = [
    encryptedStore(createStore(memoryDriver()), { key: Buffer.from(text), keyId: "k" }),
    openStore("postgres://anna:geheim@localhost/none"),
    openStore("redis://:geheim@localhost:1/0"),
  ];
  for (const store of stores.flatMap((each) => [each, each.namespace("a"), each.session("s")])) {
    const shown = inspect(store, { depth: 10, showHidden: true });
    expect(shown).not.toMatch(/geheim|<Buffer 30 31|Uint8Array/);
  }
});

test.each([
  ["wrapped", (redact: CoreOptions["redact"] & {}) => encryptedStore(createStore(memoryDriver(), { redact }), { key })],
  ["encrypted", (redact: CoreOptions["redact"] & {}) => encryptedStore(createStore(memoryDriver()), { key, redact })],
])("the redactor of the %s store redacts", async (_, storeWith) => {
  const store = storeWith((message) => ({ ...message, content: "redacted" }) as Message);
  await store.session("s").addItem({ role: "user", content: secret });
  expect(await store.session("s").getItems()).toMatchObject([{ content: "redacted" }]);
});

test("no plain text reaches the driver", async () => {
  const driver = memoryDriver();
  const values: string[] = [];
  const watched: StoreDriver = {
    ...driver,
    commit: (commit) => {
      for (const { value } of commit.writes) values.push(value ?? "");
      return driver.commit(commit);
    },
  };
  const store = open(watched);
  await store.session("a").addItem({ role: "user", content: secret });
  await turn(store, "a", secret);
  expect(values.length).toBeGreaterThan(10);
  for (const value of values) expect(value).not.toContain("secret");
});

test("a wrong key is refused, and nothing is changed", async () => {
  const driver = memoryDriver();
  await open(driver).session("a").addItem({ role: "user", content: secret });
  const before = await driver.read("m//a");
  await expect(
    open(driver, { key: randomBytes(32) })
      .session("a")
      .getItems(),
  ).rejects.toMatchObject({ code: "wrong-key" });
  await expect(
    open(driver, { key: randomBytes(32) })
      .session("a")
      .clearSession(),
  ).rejects.toMatchObject({ code: "wrong-key" });
  await expect(
    open(driver, { key: randomBytes(32), keyId: "2" })
      .session("a")
      .getItems(),
  ).rejects.toMatchObject({ code: "wrong-key" });
  expect(await driver.read("m//a")).toEqual(before);
  expect(await open(driver).session("a").getItemCount()).toBe(1);
});

test("a value moved to another position, session or tenant is detected", async () => {
  const driver = memoryDriver();
  const reported: string[] = [];
  const store = open(driver, { onError: (error) => reported.push(error.code) });
  for (const tenant of ["", "other"]) {
    for (const id of ["a", "b"]) {
      await store
        .namespace(tenant)
        .session(id)
        .addItems([0, 1, 2].map((n) => ({ role: "user", content: `${tenant} ${id} ${n}` })));
    }
  }
  const [first, second] = (await driver.read("m//a")) as [Row, Row];
  await put(driver, "m//a", { ...second, value: first.value });
  await put(driver, "m//b", first);
  await put(driver, "m/other/a", first);
  expect(await store.session("a").getItems()).toHaveLength(2);
  expect(await store.session("b").getItems()).toHaveLength(2);
  expect(await store.namespace("other").session("a").getItems()).toHaveLength(2);
  expect(reported).toEqual(["store-corrupt", "store-corrupt", "store-corrupt"]);
  const [head] = (await driver.read("h//a")) as [Row];
  await put(driver, "h//b", head);
  await expect(open(driver).session("b").getItemCount()).rejects.toMatchObject({ code: "store-corrupt" });
});

test("each of a thousand flipped bits is detected", { timeout: 30_000 }, async () => {
  const driver = memoryDriver();
  let reported = 0;
  const store = open(driver, { onError: () => reported++ });
  await store.session("a").addItem({ role: "user", content: secret.repeat(20) });
  const [row] = (await driver.read("m//a")) as [Row];
  const bytes = Buffer.from(row.value, "latin1");
  let seen = 0;
  for (let n = 0; n < 1_000; n++) {
    const flipped = Buffer.from(bytes);
    const at = Math.floor(Math.random() * bytes.length);
    flipped[at] = (flipped[at] ?? 0) ^ (1 << Math.floor(Math.random() * 7));
    await put(driver, "m//a", { ...row, value: flipped.toString("latin1") });
    const items = await store
      .session("a")
      .getItems()
      .catch(() => []);
    seen += items.length;
  }
  expect(seen).toBe(0);
  expect(reported).toBeGreaterThan(900);
  await put(driver, "m//a", row);
  expect(await store.session("a").getItemCount()).toBe(1);
});

test("during key rotation old rows are readable and new rows use the new key; after it the old key is not needed", async () => {
  const driver = memoryDriver();
  await turn(open(driver, { keyId: "old" }), "a", 1);
  const next = randomBytes(32).toString("hex");
  const both = encryptedStore(createStore(driver), { key: next, keyId: "new", earlierKeys: { old: key } });
  await turn(both, "a", 2);
  expect(await both.session("a").getItemCount()).toBe(4);
  const fresh = open(driver, { key: next, keyId: "new" });
  await expect(fresh.session("a").getItems()).rejects.toMatchObject({ code: "wrong-key" });
  expect(await both.rotate()).toBeGreaterThan(8);
  const rotated = open(driver, { key: next, keyId: "new" });
  expect((await rotated.session("a").getItems()).map(({ content }) => content)).toEqual([
    "question 1",
    "answer 1",
    "question 2",
    "answer 2",
  ]);
  expect(await rotated.verify()).toEqual([]);
});

test("rotation leaves no row of a namespace under the old key, including spans that belong to no run", async () => {
  const driver = memoryDriver();
  const values = new Map<string, string>();
  const watched: StoreDriver = {
    ...driver,
    commit: async (commit) => {
      const refused = await driver.commit(commit);
      for (const { list, key: row = "", value = "" } of refused === undefined ? commit.writes : [])
        values.set(`${list} ${row}`, value);
      return refused;
    },
  };
  const old = encryptedStore(createStore(watched), { key, keyId: "old" });
  const tenant = old.namespace("tenant");
  await turn(tenant, "a", 1);
  await tenant.spans.add([looseSpan("f".repeat(32)), looseSpan("e".repeat(32))]);
  const next = { key: randomBytes(32), keyId: "new" };
  const both = encryptedStore(createStore(watched), { ...next, earlierKeys: { old: key } });
  expect(await both.rotate()).toBe(0);
  const count = await both.namespace("tenant").rotate();
  const rows = [...values].filter(([place]) => !place.startsWith("e "));
  expect(count).toBe(rows.length);
  for (const [place, value] of rows) expect(value, place).toMatch(/^1\.new\./);
  const rotated = encryptedStore(createStore(driver), next).namespace("tenant");
  expect(await rotated.spans.list({ traceId: "f".repeat(32) })).toHaveLength(1);
  expect(await rotated.verify()).toEqual([]);
});

test("a namespace that contains only spans is recognised as encrypted too", async () => {
  const [sealed, plain] = [memoryDriver(), memoryDriver()];
  await encryptedStore(createStore(sealed), { key }).spans.add([looseSpan("f".repeat(32))]);
  await createStore(plain).spans.add([looseSpan("f".repeat(32))]);
  await expect(createStore(sealed).ready()).rejects.toMatchObject({ code: "wrong-key" });
  await expect(encryptedStore(createStore(plain), { key }).ready()).rejects.toMatchObject({ code: "wrong-key" });
});

test("a key must have 32 bytes and a plain id", () => {
  for (const options of [{ key: "short" }, { key: randomBytes(16) }, { key, keyId: "a.b" }, { key, keyId: "" }]) {
    expect(() => encryptedStore(createStore(memoryDriver()), options)).toThrow(/key/i);
  }
});

test.each([[{}], [null], [undefined], ["sqlite:./offstage.db"]])("only a store can be encrypted, not %j", (found) => {
  expect(() => encryptedStore(found as never, { key })).toThrow("encryptedStore() needs a store; found");
});

test("a store exposes the driver it was created with", () => {
  const driver = memoryDriver();
  expect(createStore(driver)[storeDriver]).toBe(driver);
});
