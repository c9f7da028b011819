// D3: lists, searches, queries and numbers are the same with and without a back end's own search, in plain and encrypted stores.
import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import type { Message } from "../../src/messages/message.ts";
import { memoryDriver } from "../../src/sessions/drivers/memory/memory.ts";
import { postgresDriver } from "../../src/sessions/drivers/postgres/postgres.ts";
import { redisDriver } from "../../src/sessions/drivers/redis/redis.ts";
import { sqliteDriver } from "../../src/sessions/drivers/sqlite/sqlite.ts";
import { encryptedStore } from "../../src/sessions/encrypted-store.ts";
import { schemaVersion } from "../../src/sessions/head/connection.ts";
import type { StoreDriver } from "../../src/sessions/ports/store-driver.ts";
import type { ListRunsOptions } from "../../src/sessions/records/run-list.ts";
import type { NumbersOptions } from "../../src/sessions/records/search/numbers.ts";
import type { SearchOptions } from "../../src/sessions/records/search/search.ts";
import type { ListSessionsOptions } from "../../src/sessions/records/session-list.ts";
import { createStore, type Store } from "../../src/sessions/store.ts";
import { startPostgres } from "../servers/postgres-server.ts";
import { startRedis } from "../servers/redis-server.ts";
import { generatedTurns, runTurns } from "../support/generated-record.ts";
import { putRows, rowsIn } from "../support/stored-rows.ts";

const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
let count = 0;

afterAll(async () => {
  await Promise.all([postgres?.stop(), redis?.stop()]);
});

const key = randomBytes(32);
const times = ["2026-03-01T22:02:00.000Z", "2026-03-02T09:03:00.000Z", "2026-03-02T00:00:00.000Z"];
// Mostly left out, so that most questions find something.
const seldom = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ arbitrary: fc.constant(undefined), weight: 4 }, { arbitrary: value, weight: 1 });
const one = <T>(...values: readonly T[]): fc.Arbitrary<T | undefined> => seldom(fc.constantFrom(...values));
const moment = fc.constantFrom(...times);
const time = seldom(
  fc.oneof(
    moment,
    moment.map((at) => Date.parse(at) + 0.5),
  ),
);
const agent = one<string | string[]>("desk", "guide", "helper", "nobody");
const status = one<ListRunsOptions["status"]>(
  ...(["running", "completed", "failed", "waiting", "interrupted"] as const),
  ["failed", "waiting"],
);
const limit = one(0, 1, 3, 100);
const text = one("refund", "REFUND", "100%", "i", "look", "question: the");

const searches: fc.Arbitrary<SearchOptions> = fc.record({
  text,
  role: one<string | string[]>("user", "tool", "assistant", ["user", "assistant"], "nobody"),
  toolName: one("look", "fetch_page", "helper", "pay"),
  agent: one("desk", "guide", "helper", "scout"),
  isError: one(true, false),
  session: one("anna", "bert", "nobody"),
  since: time,
  until: time,
  stream: one("said", "done"),
  limit,
});
const runLists: fc.Arbitrary<ListRunsOptions> = fc.record({
  sessionId: one("anna", "cleo"),
  status,
  agent,
  model: one<string | string[]>("gpt-5-mini", ["unpriced", "claude-sonnet-4-5"]),
  since: time,
  until: time,
  text,
  metadata: one({ user: "u1" }, { user: "u2" }),
  subagents: one(true, false),
  order: one("newest", "oldest"),
  limit,
});
const sessionLists: fc.Arbitrary<ListSessionsOptions> = fc.record({
  text: one("ann", "REFUND", "question"),
  metadata: one({ user: "u1" }),
  agent,
  status,
  since: time,
  until: time,
  order: one("newest", "oldest"),
  limit,
});
const numbers: fc.Arbitrary<NumbersOptions> = fc.record({
  by: fc.subarray(["day", "agent", "model", "tool", "session", "status"] as const),
  since: time,
  until: time,
});

/** The questions to ask of one generated store. */
const questions = fc.record({
  searches: fc.array(searches, { minLength: 12, maxLength: 12 }),
  runLists: fc.array(runLists, { minLength: 12, maxLength: 12 }),
  sessionLists: fc.array(sessionLists, { minLength: 6, maxLength: 6 }),
  numbers: fc.array(numbers, { minLength: 6, maxLength: 6 }),
});

type Questions = typeof questions extends fc.Arbitrary<infer T> ? T : never;

/** Every answer of a store, as plain data. */
async function answersOf(store: Store, asked: Questions): Promise<unknown> {
  const found = [];
  for (const options of asked.searches) found.push(await pagesOf(store, options));
  for (const options of asked.runLists) found.push(await store.runs.list(options));
  for (const options of asked.sessionLists) found.push(await store.sessions.list(options));
  for (const options of asked.numbers) found.push(`${await store.numbers(options)}`);
  for (const options of asked.numbers) found.push([...(await store.numbers(options))]);
  for (const { session: _, ...options } of asked.searches.slice(0, 3))
    found.push((await store.query(options)).export("json"));
  return JSON.parse(JSON.stringify(found));
}

// A limit also pages on, to the end.
async function pagesOf(store: Store, options: SearchOptions): Promise<unknown[]> {
  const found = [];
  for (let before: string | undefined; ; ) {
    const page = [];
    for await (const each of store.search({ ...options, before })) page.push(each);
    found.push(...page);
    before = page.at(-1)?.cursor;
    if (!options.limit || page.length < options.limit) return found;
  }
}

const kinds = {
  "a plain store": (driver: StoreDriver) => createStore(driver),
  "an encrypted store": (driver: StoreDriver) => encryptedStore(createStore(driver), { key }),
};

/** A driver without its own search. */
function withoutSelect(driver: StoreDriver): StoreDriver {
  const { select: _, ...rest } = driver;
  return rest;
}

/** Drivers with the rows of another one. */
async function copiesOf(driver: StoreDriver): Promise<Record<string, StoreDriver>> {
  const rows = await rowsIn(driver);
  const name = `copy${process.pid}_${++count}`;
  const copies: Record<string, StoreDriver> = {
    memory: memoryDriver(),
    ...(postgres && { Postgres: postgresDriver({ url: postgres.url, schema: name, maxConnections: 4 }) }),
    ...(redis && { Redis: redisDriver({ url: redis.url, prefix: name }) }),
  };
  for (const copy of Object.values(copies)) {
    await copy.open();
    await copy.prepare(schemaVersion);
    await putRows(copy, ...rows);
  }
  return copies;
}

for (const [kind, open] of Object.entries(kinds))
  test(`${kind} gives the same answers on every back end, with and without its own search`, async () => {
    let answers = 0;
    const property = fc.asyncProperty(generatedTurns, questions, async (turns, asked) => {
      const driver = sqliteDriver({ path: ":memory:" });
      const store = open(driver);
      await runTurns(store, turns);
      await store.session("anna").describe({ title: "Anna's refund", metadata: { user: "u1" } });
      await store.session("bert").describe({ metadata: { user: "u2" } });
      const expected = await answersOf(store, asked);
      const drivers = { "SQLite without select": withoutSelect(driver), ...(await copiesOf(driver)) };
      for (const [name, each] of Object.entries(drivers))
        expect(await answersOf(open(each), asked), name).toEqual(expected);
      answers += (expected as unknown[]).flat().length;
      for (const each of Object.values(drivers)) await each.close();
    });
    await fc.assert(property, { numRuns: 4, endOnFailure: true });
    expect(answers).toBeGreaterThan(400);
  }, 60_000);

const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 8 }),
  fc.string({ unit: fc.constantFrom(..."aÄßiİIkK\u212aσςΣǅéE%_\\'\0\ud800 "), minLength: 1, maxLength: 6 }),
);
const anyContent = fc.oneof(
  anyText,
  fc.array(
    fc.oneof(
      anyText.map((part) => ({ type: "text", text: part })),
      fc.constant({ type: "image_url", image_url: { url: "https://example.com/a.png" } }),
    ),
    { minLength: 1, maxLength: 3 },
  ),
);
const textSearches = fc.record({
  contents: fc.array(anyContent, { minLength: 1, maxLength: 12 }),
  wanted: fc.array(
    fc.record({ text: anyText, at: fc.nat(11), form: fc.constantFrom("as it is", "upper", "lower", "own") }),
    { minLength: 10, maxLength: 10 },
  ),
});

const textIn = (content: unknown): string =>
  typeof content === "string" ? content : (content as { text?: string }[]).map(({ text: part = "" }) => part).join("");

test("a search finds any text in any content, with and without a back end's own search", async () => {
  let hits = 0;
  const property = fc.asyncProperty(textSearches, async ({ contents, wanted }) => {
    const driver = sqliteDriver({ path: ":memory:" });
    const store = createStore(driver);
    await store.session("s").addItems(contents.map((content) => ({ role: "user", content }) as Message));
    const drivers = [driver, withoutSelect(driver), ...Object.values(await copiesOf(driver))];
    for (const { text: other, at, form } of wanted) {
      const own = [...textIn(contents[at % contents.length])].slice(at % 3).join("");
      const asked = { "as it is": other, upper: own.toUpperCase(), lower: own.toLowerCase(), own }[form] ?? other;
      const found = [];
      for (const each of drivers) {
        const contentsOf = [];
        for await (const { message } of createStore(each).search({ text: asked })) contentsOf.push(message.content);
        found.push(contentsOf);
      }
      for (const each of found) expect(each, JSON.stringify(asked)).toEqual(found[0]);
      if (form === "own") expect(found[0]).toContainEqual(contents[at % contents.length]);
      hits += found[0]?.length ?? 0;
    }
    for (const each of drivers) await each.close();
  });
  await fc.assert(property, { numRuns: 20 });
  expect(hits).toBeGreaterThan(100);
}, 60_000);
