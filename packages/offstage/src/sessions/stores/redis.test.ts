import { createClient } from "@redis/client";
import { afterAll, describe, expect, test } from "vitest";
import { startRedis } from "../../../test/servers/redis-server.ts";
import { sessionStoreContract } from "../../testing/session-store-contract.ts";
import { redisStore } from "../open-store.ts";
import type { Store } from "../store.ts";

const server = await startRedis();
const prefixes = new WeakMap<Store, string>();
let count = 0;

afterAll(() => server?.stop());

function open(prefix: string = `t${process.pid}_${++count}`): Store {
  const store = redisStore({ url: server?.url ?? "", prefix });
  prefixes.set(store, prefix);
  return store;
}

describe.runIf(server)("Redis", () => {
  for (const { name, run } of sessionStoreContract(() => open(), { reopen: (store) => open(prefixes.get(store)) })) {
    test(name, run);
  }

  test("a client passed by the caller is never closed", async () => {
    const client = createClient({ url: server?.url ?? "" });
    await client.connect();
    const store = redisStore({ client, prefix: "lent" });
    await store.session("a").addItem({ role: "user", content: "hello" });
    await store.close();
    expect(await client.ping()).toBe("PONG");
    client.destroy();
  });

  test("a client with call() instead of sendCommand() works", async () => {
    const client = createClient({ url: server?.url ?? "" });
    await client.connect();
    const store = redisStore({ client: { call: (...args: string[]) => client.sendCommand(args) }, prefix: "called" });
    await store.session("a").addItem({ role: "user", content: "hello" });
    expect(await store.session("a").getItemCount()).toBe(1);
    client.destroy();
  });

  test("a very large number of rows is written and read in one command each", { timeout: 30_000 }, async () => {
    const session = open().session("many");
    await session.addItems(Array.from({ length: 50_000 }, (_, n) => ({ role: "user", content: String(n) })));
    expect((await session.getItems()).length).toBe(50_000);
  });

  test("the client reconnects to a restarted server, and no write is lost or repeated", {
    timeout: 30_000,
  }, async () => {
    const store = open();
    const session = store.session("a");
    for (let n = 0; n < 3; n++) {
      await session.addItem({ role: "user", content: String(n) });
      if (n < 2) await server?.restart();
    }
    expect((await session.getItems()).map(({ content }) => content)).toEqual(["0", "1", "2"]);
    await store.close();
  });

  test("keys of another program are refused", async () => {
    const client = createClient({ url: server?.url ?? "" });
    await client.connect();
    await client.set("{theirs}:schema", "hello");
    await expect(open("theirs").ready()).rejects.toMatchObject({ code: "store-foreign" });
    await client.set("{newer}:schema", "99");
    await expect(open("newer").ready()).rejects.toMatchObject({ code: "schema-newer" });
    client.destroy();
  });
});

test("the error for an unreachable server names it without its password", { timeout: 30_000 }, async () => {
  const store = redisStore({ url: "redis://me:secret@127.0.0.1:1/3" });
  const failure = store.ready();
  await expect(failure).rejects.toMatchObject({ code: "store-connection" });
  await expect(failure).rejects.not.toThrow(/secret/);
});
