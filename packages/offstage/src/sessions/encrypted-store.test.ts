import { randomBytes } from "node:crypto";
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { putRows, rowsIn, sealedColumns } from "../../test/support/stored-rows.ts";
import type { Message } from "../messages/message.ts";
import { sessionStoreContract } from "../testing/session-store-contract.ts";
import {
  answered,
  open as begin,
  calling,
  ended,
  resultOf,
  said,
  start,
  step,
  texts,
  turn,
} from "../testing/store-claims/claim.ts";
import type { SpanData } from "../tracing/span-data.ts";
import { memoryDriver } from "./drivers/memory/memory.ts";
import { encryptedStore } from "./encrypted-store.ts";
import { openStore } from "./open-store.ts";
import type { Row, StoreDriver } from "./ports/store-driver.ts";
import type { Store } from "./store.ts";
import { createStore, storeSource } from "./store.ts";
import type { CoreOptions } from "./store-core.ts";

const key = randomBytes(32);
const secret = "the secret word";

function open(
  driver: StoreDriver = memoryDriver(),
  options: Partial<Parameters<typeof encryptedStore>[1]> = {},
): Store {
  return encryptedStore(createStore(driver), { key, ...options });
}

/** The message rows of a session, as the driver has them. */
async function messageRows(driver: StoreDriver, sessionId: string, namespace = ""): Promise<Row[]> {
  return driver.read({ table: "messages", prefix: [namespace, sessionId] });
}

async function putMessage(driver: StoreDriver, row: Row): Promise<void> {
  await putRows(driver, { table: "messages", row });
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

/** Stores the secret wherever a store keeps text: in ids and names it stays readable. */
async function tellSecret(store: Store): Promise<void> {
  const session = store.session("a");
  const file = { type: "file", mediaType: "text/plain", data: `${secret} `.repeat(200) } as const;
  await session.addItem({ role: "user", content: [{ type: "text", text: secret }, file] as never });
  await session.describe({ title: secret, metadata: { word: secret } });
  const call = calling("c");
  const [only] = call.tool_calls ?? [];
  const asking = { ...call, tool_calls: [{ ...only, function: { name: "f", arguments: JSON.stringify({ secret }) } }] };
  const log = await begin(store, "a", start("r", secret, { notes: { secret } }));
  await log.intend(1, asking as never);
  const votes = [{ criterion: "c", vote: "stop", reason: secret }] as never;
  const input = { setup: { modelId: "m", provider: "p", tools: [], settings: {} }, messages: [said(secret)] };
  const more = { values: { c: { secret } }, verdicts: votes, notes: { secret }, input };
  await log.step(step(1, [asking as Message, resultOf("c", secret)], more));
  const spans = [{ ...looseSpan("d".repeat(32)), metadata: { secret }, content: { secret } }];
  const error = { code: "tool-failed", message: secret };
  await log.end(ended(secret, { status: "failed", error, spans, notes: { secret } }));
  await store.annotate({ runId: "r", label: "bad", value: secret, note: secret });
  await store.memory("m").addItems([said(secret)]);
  await store.spans.add([{ ...looseSpan("f".repeat(32)), content: { secret } }]);
}

test("no plain text reaches the driver", async () => {
  const driver = memoryDriver();
  const values: unknown[] = [];
  const watched: StoreDriver = {
    ...driver,
    commit: (commit) => {
      for (const write of commit.writes) if ("row" in write) values.push(...Object.values(write.row));
      return driver.commit(commit);
    },
  };
  const store = open(watched);
  await tellSecret(store);
  expect(await store.verify()).toEqual([]);
  expect(values.length).toBeGreaterThan(200);
  for (const value of values) expect(String(value)).not.toContain("secret");
  expect(texts(await store.session("a").getItems()).slice(1)).toEqual([secret, secret]);
  const tables = new Set((await rowsIn(driver)).map(({ table }) => table));
  expect(tables.size, "there is a row in every table").toBe(10);
});

test("a value moved to another column, row, session or tenant is detected", async () => {
  const driver = memoryDriver();
  const reported: string[] = [];
  const store = open(driver, { onError: (error) => reported.push(error.code) });
  for (const tenant of ["", "other"])
    for (const id of ["a", "b"])
      await store
        .namespace(tenant)
        .session(id)
        .addItems([0, 1, 2].map((n) => ({ role: "user", content: `${tenant} ${id} ${n}`, metadata: { id: `${n}` } })));
  const [first, second, third] = (await messageRows(driver, "a")) as [Row, Row, Row];
  await putMessage(driver, { ...second, content: first.content ?? null });
  await putMessage(driver, { ...third, fields: third.metadata ?? null });
  await putMessage(driver, { ...first, session_id: "b" });
  await putMessage(driver, { ...first, namespace: "other" });
  expect(texts(await store.session("a").getItems())).toEqual([" a 0"]);
  expect(await store.session("b").getItems()).toHaveLength(2);
  expect(await store.namespace("other").session("a").getItems()).toHaveLength(2);
  expect(reported).toEqual(Array.from({ length: 4 }, () => "store-corrupt"));
  const [head] = (await driver.get([{ table: "sessions", key: ["", "a"] }])) as [Row];
  await putRows(driver, { table: "sessions", row: { ...head, session_id: "b" } });
  await expect(open(driver).session("b").getItemCount()).rejects.toMatchObject({ code: "store-corrupt" });
});

test.for([
  ["places exchanged", { position: 2 }, { position: 1 }],
  ["another role", { role: "system" }, {}],
  ["its text removed", { content: null }, {}],
] as const)("a message with %s is detected", async ([, ofFirst, ofSecond]) => {
  const driver = memoryDriver();
  const reported: string[] = [];
  const store = open(driver, { onError: (error) => reported.push(error.code) });
  await store.session("a").addItems(["one", "two"].map((id) => ({ ...answered(id), metadata: { id } })));
  const [first, second] = (await messageRows(driver, "a")) as [Row, Row];
  await putMessage(driver, { ...first, ...ofFirst });
  await putMessage(driver, { ...second, ...ofSecond });
  await store.session("a").getItems();
  expect(reported).toContain("store-corrupt");
});

test("each of a thousand flipped bits is detected", { timeout: 30_000 }, async () => {
  const driver = memoryDriver();
  let reported = 0;
  const store = open(driver, { onError: () => reported++ });
  await store.session("a").addItem({ role: "user", content: secret.repeat(20), metadata: { id: "1", secret } });
  const [row] = (await messageRows(driver, "a")) as [Row];
  let seen = 0;
  for (let n = 0; n < 1_000; n++) {
    const column = n % 4 === 0 ? "metadata" : "content";
    const flipped = Buffer.from(String(row[column]), "latin1");
    const at = Math.floor(Math.random() * flipped.length);
    flipped[at] = (flipped[at] ?? 0) ^ (1 << Math.floor(Math.random() * 7));
    await putMessage(driver, { ...row, [column]: flipped.toString("latin1") });
    seen += (await store.session("a").getItems()).length;
  }
  expect([seen, reported]).toEqual([0, 1_000]);
  await putMessage(driver, row);
  expect(texts(await store.session("a").getItems())).toEqual([secret.repeat(20)]);
});

test("during key rotation old rows are readable and new rows use the new key; after it the old key is not needed", async () => {
  const driver = memoryDriver();
  await turn(open(driver, { keyId: "old" }), "a", 1);
  const next = randomBytes(32).toString("hex");
  const both = encryptedStore(createStore(driver), { key: next, keyId: "new", earlierKeys: { old: key } });
  await turn(both, "a", 2);
  expect(await both.session("a").getItemCount()).toBe(4);
  const reported: string[] = [];
  const fresh = open(driver, { key: next, keyId: "new", onError: ({ message }) => reported.push(message) });
  expect(texts(await fresh.session("a").getItems())).toEqual(["question 2", "answer 2"]);
  expect(reported).toHaveLength(2);
  for (const message of reported) expect(message).toContain('encrypted with key "old", which was not passed');
  expect(await both.rotate()).toBe(5);
  const rotated = open(driver, { key: next, keyId: "new" });
  expect((await rotated.session("a").getItems()).map(({ content }) => content)).toEqual([
    "question 1",
    "answer 1",
    "question 2",
    "answer 2",
  ]);
  expect(await rotated.verify()).toEqual([]);
});

/** The encrypted values of a namespace, by row. */
async function sealedValues(driver: StoreDriver, namespace = ""): Promise<unknown[][]> {
  return (await rowsIn(driver, namespace))
    .map(({ table, row }) => sealedColumns(table).flatMap((column) => row[column] ?? []))
    .filter((values) => values.length > 0);
}

test("rotation leaves no row of a namespace under the old key, whatever its table", async () => {
  const driver = memoryDriver();
  const tenant = open(driver, { keyId: "old" }).namespace("tenant");
  await tellSecret(tenant);
  const next = { key: randomBytes(32), keyId: "new" };
  const both = encryptedStore(createStore(driver), { ...next, earlierKeys: { old: key } });
  expect(await both.rotate()).toBe(0);
  const count = await both.namespace("tenant").rotate();
  const rows = await sealedValues(driver, "tenant");
  expect(count).toBe(rows.length);
  for (const value of rows.flat()) expect(value).toMatch(/^"?1\.new\./);
  const rotated = encryptedStore(createStore(driver), next).namespace("tenant");
  expect(await rotated.spans.list({ traceId: "f".repeat(32) })).toHaveLength(1);
  expect(texts(await rotated.memory("m").getItems())).toEqual([secret]);
  expect(await rotated.verify()).toEqual([]);
});

test("rotation also reaches what another process writes with the old key meanwhile", async () => {
  const driver = memoryDriver();
  const old = open(driver, { keyId: "old" });
  for (const id of ["a", "b", "c"]) await turn(old, id, 1);
  let turns = 1;
  const watched: StoreDriver = {
    ...driver,
    commit: async (commit) => {
      if (commit.label === "store.rotate" && turns < 8) await turn(old, "abc"[turns % 3] ?? "", ++turns);
      return driver.commit(commit);
    },
  };
  const next = { key: randomBytes(32), keyId: "new" };
  await encryptedStore(createStore(watched), { ...next, earlierKeys: { old: key } }).rotate();
  expect(turns).toBe(8);
  for (const value of (await sealedValues(driver)).flat()) expect(value).toMatch(/^"?1\.new\./);
  const rotated = encryptedStore(createStore(driver), next);
  expect((await rotated.runs.list()).length).toBe(10);
  expect(await rotated.verify()).toEqual([]);
});

test("a key must have 32 bytes and a plain id", () => {
  for (const options of [{ key: "short" }, { key: randomBytes(16) }, { key, keyId: "a.b" }, { key, keyId: "" }]) {
    expect(() => encryptedStore(createStore(memoryDriver()), options)).toThrow(/key/i);
  }
});

test.each([[{}], [null], [undefined], ["sqlite:./offstage.db"]])("only a store can be encrypted, not %j", (found) => {
  expect(() => encryptedStore(found as never, { key })).toThrow("encryptedStore() needs a store; found");
});

test("a store exposes the driver it was created with", async () => {
  const driver = memoryDriver();
  expect(await createStore(driver)[storeSource].load()).toBe(driver);
});
