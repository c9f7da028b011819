import { createClient } from "@redis/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startRedis } from "../../../../test/servers/redis-server.ts";
import { storeDriverContract } from "../../../testing/driver-contract.ts";
import type { Row, StoreDriver } from "../../ports/store-driver.ts";
import { redisDriver } from "./redis.ts";

const server = await startRedis();
const url = server?.url ?? "";
const client = createClient({ url });
const prefixes = new WeakMap<StoreDriver, string>();
let count = 0;

beforeAll(async () => {
  // One test restarts the server.
  client.on("error", () => {});
  if (server !== undefined) await client.connect();
});
afterAll(async () => {
  if (server !== undefined) client.destroy();
  await server?.stop();
});

function open(prefix: string = `t${process.pid}_${++count}`): StoreDriver {
  const driver = redisDriver({ url, prefix });
  prefixes.set(driver, prefix);
  return driver;
}

const message = (seq: number): Row => ({
  namespace: "n",
  session_id: "s",
  seq,
  stream: "said",
  role: "user",
  content: `message ${seq}`,
  is_error: false,
  created_at: "2026-01-02T03:04:05.678Z",
});

const add = (driver: StoreDriver, ...rows: readonly Row[]) =>
  driver.commit({ label: "session.add", checks: [], writes: rows.map((row) => ({ table: "messages", row })) });

const contents = async (driver: StoreDriver) =>
  (await driver.read({ table: "messages", prefix: ["n", "s"] })).map(({ content }) => content);

describe.runIf(server)("Redis", () => {
  for (const { name, run } of storeDriverContract(() => open(), { reopen: (driver) => open(prefixes.get(driver)) })) {
    test(name, run);
  }

  // ioredis sends a command by call().
  const called = { call: (...args: string[]) => client.sendCommand(args) };
  for (const { name, run } of storeDriverContract(() => redisDriver({ client: called, prefix: `c${++count}` }))) {
    test(`by a client with call(): ${name}`, run);
  }

  test("a client passed by the caller is never closed", async () => {
    const driver = redisDriver({ client, prefix: "lent" });
    await add(driver, message(1));
    await driver.close();
    expect(await client.ping()).toBe("PONG");
    expect(driver.name).toBe("Redis");
  });

  test("a row is one readable JSON object without nulls", async () => {
    await add(redisDriver({ client, prefix: "seen" }), { ...message(1), title: null });
    expect((await client.hVals("{seen}:messages:n:s")).map((text) => JSON.parse(text))).toEqual([message(1)]);
  });

  test("every key starts with the prefix in braces", async () => {
    const driver = redisDriver({ client, prefix: "all" });
    await driver.prepare(1);
    await add(driver, { ...message(1), session_id: "a b/{c}:d", position: 1, run_id: "r" });
    const rest = (await client.keys("{all}:*")).map((key) => key.slice("{all}:".length)).sort();
    const scope = "n:a%20b%2F%7Bc%7D%3Ad";
    const orders = ["key", "run", "said"].map((order) => `messages.${order}:${scope}`);
    expect(rest).toEqual([...orders, `messages:${scope}`, "version"]);
  });

  test("a very large number of rows is written and read in one command each", { timeout: 30_000 }, async () => {
    const driver = open();
    await add(driver, ...Array.from({ length: 50_000 }, (_, n) => message(n)));
    expect((await contents(driver)).length).toBe(50_000);
    await driver.close();
  });

  test("a malformed row is an error, and nothing is written", async () => {
    const driver = redisDriver({ client, prefix: "torn" });
    await add(driver, message(1), message(2));
    const [field = ""] = (await client.hKeys("{torn}:messages:n:s")).sort();
    await client.hSet("{torn}:messages:n:s", field, '{"namespace":');
    await expect(contents(driver)).rejects.toMatchObject({ code: "store-corrupt" });
    const failing = [add(driver, message(3), message(1)), driver.get([{ table: "messages", key: ["n", "s", 1] }])];
    for (const each of failing) await expect(each).rejects.toMatchObject({ code: "store-corrupt" });
    expect(await client.hLen("{torn}:messages:n:s")).toBe(2);
  });

  test("keys of another program are refused", async () => {
    await client.set("{theirs}:version", "hello");
    await expect(open("theirs").open()).rejects.toMatchObject({ code: "store-foreign" });
    await client.set("{earlier}:schema", "3");
    await expect(open("earlier").open()).rejects.toMatchObject({ code: "store-foreign" });
    await client.set("{other}:messages:n:s", "hello");
    await expect(contents(open("other"))).resolves.toEqual([]);
    await expect(add(open("other"), message(1))).rejects.toMatchObject({ code: "store-foreign" });
  });

  test("the client reconnects to a restarted server, and keeps what was written", { timeout: 30_000 }, async () => {
    const driver = open();
    for (let n = 0; n < 3; n++) {
      await retried(() => add(driver, message(n)));
      if (n < 2) await server?.restart();
    }
    expect(await contents(driver)).toEqual(["message 0", "message 1", "message 2"]);
    await driver.close();
  });
});

async function retried(work: () => Promise<unknown>): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    try {
      await work();
      return;
    } catch (error) {
      expect(error).toMatchObject({ code: "store-connection" });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

test("the error for an unreachable server names it without its password", { timeout: 30_000 }, async () => {
  const failure = redisDriver({ url: "redis://me:secret@127.0.0.1:1/3" }).open();
  await expect(failure).rejects.toMatchObject({ code: "store-connection" });
  await expect(failure).rejects.not.toThrow(/secret/);
});

test("a driver without url and client is refused", () => {
  expect(() => redisDriver({})).toThrow(/"url" or "client"/);
});
