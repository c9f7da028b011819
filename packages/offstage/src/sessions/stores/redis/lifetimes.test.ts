import { createClient } from "@redis/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startRedis } from "../../../../test/servers/redis-server.ts";
import { calling, ended, open, said, start, texts, turn } from "../../../testing/store-claims/claim.ts";
import { encryptedStore } from "../../encrypted-store.ts";
import { redisStore } from "../../open-store.ts";

const server = await startRedis();
const client = createClient({ url: server?.url ?? "" });
const ttlMs = 60_000;

beforeAll(async () => {
  if (server !== undefined) await client.connect();
});
afterAll(async () => {
  if (server !== undefined) client.destroy();
  await server?.stop();
});

const opened = (prefix: string, onError?: () => void) =>
  redisStore({ url: server?.url ?? "", prefix, ttlMs, ...(onError && { onError }) });

/** The keys that expire, with the milliseconds each has left. */
async function lifetimes(prefix: string): Promise<Map<string, number>> {
  const keys = (await client.keys(`{${prefix}}:*`)).filter((key) => !key.endsWith(":schema"));
  return new Map(await Promise.all(keys.map(async (key) => [key, await client.pTTL(key)] as const)));
}

/** Ages all keys, as if nothing had been written for this long. */
async function pass(prefix: string, ms: number): Promise<void> {
  for (const [key, left] of await lifetimes(prefix)) await client.pExpire(key, left - ms);
}

const dead = (prefix: string, id: string) =>
  client.del(["h", "m", "j", "s"].flatMap((kind) => ["h", "z"].map((part) => `{${prefix}}:${part}:${kind}//${id}`)));

describe.runIf(server)("Redis with a time to live", () => {
  test("every key expires, and an expired session is not listed", async () => {
    const store = opened("ttl");
    for (const id of ["gone", "kept"]) await store.session(id).addItem(said("x"));
    for (const [key, left] of await lifetimes("ttl")) expect(left, key).toBeGreaterThan(50_000);
    await dead("ttl", "gone");
    expect(await store.session("gone").getItems()).toEqual([]);
    expect((await store.sessions.list({ limit: 5 })).map(({ sessionId }) => sessionId)).toEqual(["kept"]);
    await store.close();
  });

  test("a session that expired and was created again is listed once, as the newest", async () => {
    const store = opened("again");
    for (const id of ["x", "keep"]) await store.session(id).addItem(said("1"));
    await dead("again", "x");
    await store.session("x").addItem(said("2"));
    const listed = async () => (await store.sessions.list()).map(({ sessionId }) => sessionId);
    expect(await listed()).toEqual(["x", "keep"]);
    expect(await store.prune({ keepLast: 2 })).toEqual({ removedSessions: 0, busySessions: 0 });
    expect(await client.zCard("{again}:z:a/")).toBe(2);
    expect(texts(await store.session("x").getItems())).toEqual(["2"]);
    await store.close();
  });

  test("the list of sessions does not grow with expired sessions", async () => {
    const store = opened("shorter");
    for (let n = 0; n < 20; n++) {
      await store.session(`s${n}`).addItem(said("x"));
      if (n < 19) await dead("shorter", `s${n}`);
    }
    for (let n = 0; n < 20; n++) await store.session("s19").addItem(said("more"));
    expect(await client.zCard("{shorter}:z:a/")).toBe(1);
    expect(await client.hLen("{shorter}:h:a/")).toBe(1);
    await store.close();
  });

  test("any write to a session keeps all of it alive, including its place in the list", async () => {
    const store = opened("whole");
    await turn(store, "a", 1);
    const log = await open(store, "a", start("r2", "two"));
    await pass("whole", 40_000);
    await log.intend(1, calling("c"));
    const left = await lifetimes("whole");
    for (const kind of ["a/", "h//a", "m//a", "j//a", "s//a"])
      for (const part of ["h", "z"]) expect(left.get(`{whole}:${part}:${kind}`), kind).toBeGreaterThan(50_000);
    await log.end(ended("done"));
    await store.close();
  });

  test("a run can be found by its id as long as its session is alive", async () => {
    const store = opened("found");
    await turn(store, "a", 1);
    for (let n = 2; n < 8; n++) {
      await pass("found", 50_000);
      await store.session("a").addItem(said("still here"));
    }
    expect((await store.runs.get("run-a-1"))?.status).toBe("completed");
    expect(await store.verify()).toEqual([]);
    const left = await lifetimes("found");
    expect(left.get("{found}:h:r//run-a-1")).toBeGreaterThan(left.get("{found}:h:h//a") as number);
    await store.close();
  });

  test("the runs of an expired session are gone, and their ids can be used again", async () => {
    const reports: unknown[] = [];
    const store = opened("anew", () => reports.push(1));
    await turn(store, "a", 1);
    await dead("anew", "a");
    expect(await store.runs.get("run-a-1")).toBeUndefined();
    await turn(store, "a", "other");
    expect(await store.runs.get("run-a-1")).toBeUndefined();
    await turn(store, "a", 1);
    expect(texts(await store.session("a").getItems())).toEqual([
      "question other",
      "answer other",
      "question 1",
      "answer 1",
    ]);
    expect((await store.runs.get("run-a-1"))?.status).toBe("completed");
    expect(reports).toEqual([]);
    await store.close();
  });

  test("deleting a session leaves no key", async () => {
    const store = opened("none");
    await turn(store, "a", 1);
    await store.sessions.delete("a");
    expect(await lifetimes("none")).toEqual(new Map());
    await store.close();
  });

  test("the proof of the encryption key does not expire", async () => {
    const options = { key: new Uint8Array(32) };
    await encryptedStore(opened("proof"), options).session("a").addItem(said("x"));
    expect((await lifetimes("proof")).get("{proof}:h:e")).toBe(-1);
  });
});
