import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@redis/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startRedis } from "../../../../test/servers/redis-server.ts";
import { storeDriverContract } from "../../../testing/driver-contract.ts";
import type { Row, StoreDriver, Write } from "../../ports/store-driver.ts";
import { redisDriver } from "./redis.ts";

const server = await startRedis();
const client = createClient({ url: server?.url ?? "" });
const ttlMs = 60_000;
let count = 0;

beforeAll(async () => {
  if (server !== undefined) await client.connect();
});
afterAll(async () => {
  if (server !== undefined) client.destroy();
  await server?.stop();
});

const opened = (prefix: string, ms = ttlMs): StoreDriver => redisDriver({ client, prefix, ttlMs: ms });

const at = "2026-01-02T03:04:05.678Z";
const put = (table: Extract<Write, { row: Row }>["table"], row: Row, numbered?: string): Write => ({
  table,
  row: { namespace: "n", created_at: at, started_at: at, ...row },
  numbered,
});

/** Writes one turn: the session, two messages, a run, a step, and a span. */
async function turn(driver: StoreDriver, session_id: string, number: number): Promise<void> {
  const run_id = `run ${session_id} ${number}`;
  const of = { session_id, run_id };
  await driver.commit({
    label: "step.commit",
    checks: [],
    writes: [
      put("sessions", { session_id, version: run_id }, "activity"),
      put("messages", { ...of, seq: 2 * number, position: 2 * number, content: `question ${number}` }),
      put("messages", { ...of, seq: 2 * number + 1, position: 2 * number + 1, content: `answer ${number}` }),
      put("runs", { ...of, number, status: "completed" }, "seq"),
      put("steps", { ...of, step: 1 }),
      put("spans", { ...of, trace_id: "t", span_id: run_id, start_ms: number, seq: number }),
    ],
  });
}

const renew = (driver: StoreDriver, session_id: string) =>
  driver.commit({ label: "lease.renew", checks: [], writes: [put("sessions", { session_id, activity: 0 })] });

const values = async (driver: StoreDriver, column: string, range: Parameters<StoreDriver["read"]>[0]) =>
  (await driver.read(range)).map((row) => row[column]);
const listed = (driver: StoreDriver) =>
  values(driver, "session_id", { table: "sessions", order: "activity", prefix: ["n"], reverse: true });
const said = (driver: StoreDriver, id: string) =>
  values(driver, "content", { table: "messages", order: "said", prefix: ["n", id] });
const runById = (driver: StoreDriver, id: string) =>
  values(driver, "run_id", { table: "runs", order: "id", prefix: ["n", id] });

const lasting = ["version", "number"];

/** The keys that expire, with the milliseconds each has left. */
async function lifetimes(prefix: string): Promise<Map<string, number>> {
  const keys = (await client.keys(`{${prefix}}:*`)).filter((key) => !lasting.includes(key.split(":")[1] ?? ""));
  return new Map(await Promise.all(keys.map(async (key) => [key, await client.pTTL(key)] as const)));
}

/** Ages all keys, as if nothing had been written for this long. */
async function pass(prefix: string, ms: number): Promise<void> {
  for (const [key, left] of await lifetimes(prefix)) await client.pExpire(key, left - ms);
}

/** Expires a session: its keys are those that end with its id. */
async function expire(prefix: string, id: string): Promise<void> {
  const keys = await client.keys(`{${prefix}}:*:n:${id}`);
  expect(keys.length).toBeGreaterThan(5);
  await client.del(keys);
}

describe.runIf(server)("Redis with a time to live", () => {
  for (const { name, run } of storeDriverContract(() => opened(`contract${++count}`))) test(name, run);

  test("every key expires, and an expired session is in no order", async () => {
    const driver = opened("ttl");
    for (const id of ["gone", "kept"]) await turn(driver, id, 1);
    for (const [key, left] of await lifetimes("ttl")) expect(left, key).toBeGreaterThan(50_000);
    await expire("ttl", "gone");
    expect(await said(driver, "gone")).toEqual([]);
    expect(await listed(driver)).toEqual(["kept"]);
    expect(await runById(driver, "run gone 1")).toEqual([]);
    const ofTrace = await values(driver, "span_id", { table: "spans", order: "trace", prefix: ["n", "t"] });
    expect(ofTrace).toEqual(["run kept 1"]);
  });

  test("all keys of a session expire at the same moment", async () => {
    await turn(opened("short", 300), "a", 1);
    const counts = new Set<number>();
    while (!counts.has(0)) {
      counts.add((await client.keys("{short}:*:n:a")).length);
      await sleep(1);
    }
    expect([...counts].filter((each) => each > 0).length).toBeLessThanOrEqual(1);
    expect(await lifetimes("short")).toEqual(new Map());
  });

  test("a limit counts the rows that are left", async () => {
    const driver = opened("limit");
    for (let n = 0; n < 30; n++) await turn(driver, `s${n}`, 1);
    for (let n = 1; n < 29; n++) await expire("limit", `s${n}`);
    const newest = { table: "sessions", order: "activity", prefix: ["n"], reverse: true } as const;
    expect(await values(driver, "session_id", { ...newest, limit: 2 })).toEqual(["s29", "s0"]);
    expect(await values(driver, "session_id", { ...newest, limit: 1 })).toEqual(["s29"]);
  });

  test("a session that expired and was created again starts empty and is listed once, as the newest", async () => {
    const driver = opened("again");
    await turn(driver, "x", 1);
    await turn(driver, "x", 2);
    await turn(driver, "keep", 1);
    await expire("again", "x");
    await turn(driver, "x", 1);
    expect(await listed(driver)).toEqual(["x", "keep"]);
    expect(await said(driver, "x")).toEqual(["question 1", "answer 1"]);
    expect(await client.zCard("{again}:sessions.activity:n")).toBe(2);
  });

  test("a run of an expired session is not taken for the run that has its place now", async () => {
    const driver = opened("place");
    await turn(driver, "a", 1);
    await expire("place", "a");
    const writes = [put("runs", { session_id: "a", number: 1, run_id: "new", seq: 99, status: "completed" })];
    // A driver that does not expire sessions sweeps nothing, and still shows no row twice.
    const plain = redisDriver({ client, prefix: "place" });
    await plain.commit({ label: "run.begin", checks: [], writes });
    expect(await client.zCard("{place}:runs.id:n")).toBe(2);
    for (const each of [driver, plain]) {
      expect(await runById(each, "run a 1")).toEqual([]);
      expect(await runById(each, "new")).toEqual(["new"]);
      expect(await values(each, "seq", { table: "runs", order: "started", prefix: ["n"] })).toEqual([99]);
    }
  });

  test("the runs of an expired session are gone, and their ids can be used again", async () => {
    const driver = opened("anew");
    await turn(driver, "a", 1);
    await expire("anew", "a");
    await turn(driver, "b", 1);
    expect(await runById(driver, "run a 1")).toEqual([]);
    await turn(driver, "a", 1);
    expect(await runById(driver, "run a 1")).toEqual(["run a 1"]);
    expect(await values(driver, "run_id", { table: "runs", order: "started", prefix: ["n"] })).toEqual([
      "run b 1",
      "run a 1",
    ]);
  });

  test("orders do not grow with expired sessions", async () => {
    const driver = opened("shorter");
    const orders = ["sessions.activity", "runs.id", "runs.started", "spans.trace"];
    for (let n = 0; n < 40; n++) {
      await turn(driver, `s${n}`, 1);
      if (n < 39) await expire("shorter", `s${n}`);
    }
    for (const order of orders) expect(await client.zCard(`{shorter}:${order}:n`), order).toBeLessThan(20);
    for (let n = 0; n < 20; n++) await renew(driver, "s39");
    for (const order of orders) expect(await client.zCard(`{shorter}:${order}:n`), order).toBe(1);
  });

  test("a malformed row does not fail the writes to other sessions", async () => {
    const driver = opened("torn");
    await turn(driver, "torn", 1);
    await client.hSet("{torn}:sessions:n:torn", "", '{"namespace":');
    for (let n = 0; n < 5; n++) await turn(driver, "a", n);
    expect((await said(driver, "a")).length).toBe(10);
    await expect(listed(driver)).rejects.toMatchObject({ code: "store-corrupt" });
  });

  test("any write to a session keeps all of it alive, including its entries in orders of the namespace", async () => {
    const driver = opened("whole");
    await turn(driver, "a", 1);
    await turn(driver, "other", 1);
    await pass("whole", 40_000);
    await renew(driver, "a");
    const left = await lifetimes("whole");
    expect(left.size).toBeGreaterThan(20);
    for (const [key, ms] of left) {
      if (key.endsWith(":other")) expect(ms, key).toBeLessThan(25_000);
      else expect(ms, key).toBeGreaterThan(50_000);
    }
  });

  test("a run can be found by its id as long as its session is alive", async () => {
    const driver = opened("found");
    await turn(driver, "a", 1);
    for (let n = 2; n < 8; n++) {
      await pass("found", 50_000);
      await renew(driver, "a");
    }
    expect(await runById(driver, "run a 1")).toEqual(["run a 1"]);
    expect(await said(driver, "a")).toEqual(["question 1", "answer 1"]);
  });

  test("a session that is written without a time to live no longer expires", async () => {
    await turn(opened("kept"), "a", 1);
    await renew(redisDriver({ client, prefix: "kept" }), "a");
    const left = await lifetimes("kept");
    expect(left.size).toBeGreaterThan(10);
    for (const [key, ms] of left) expect(ms, key).toBe(-1);
  });

  test("deleting a session leaves no key", async () => {
    const driver = opened("none");
    await turn(driver, "a", 1);
    const names = ["sessions", "messages", "runs", "steps", "spans"] as const;
    const writes = names.map((table) => ({ table, remove: ["n", "a"] }));
    await driver.commit({ label: "session.delete", checks: [], writes });
    expect(await lifetimes("none")).toEqual(new Map());
  });

  test("namespaces, memories, the version and the number do not expire", async () => {
    const driver = opened("lasting");
    await driver.prepare(1);
    await turn(driver, "a", 1);
    const writes = [put("namespaces", { is_sealed: true }), put("memories", { memory_id: "m", seq: 1, role: "user" })];
    await driver.commit({ label: "memory.add", checks: [], writes });
    const keys = ["version", "number", "namespaces:n", "memories:n:m", "memories.key:n:m"];
    for (const key of keys) expect(await client.pTTL(`{lasting}:${key}`), key).toBe(-1);
  });
});
