import pg from "pg";
import { afterAll, describe, expect, test } from "vitest";
import { startPostgres } from "../../../test/servers/postgres-server.ts";
import { sessionStoreContract } from "../../testing/session-store-contract.ts";
import { postgresStore } from "../open-store.ts";
import type { Store } from "../store.ts";

const server = await startPostgres();
const prefixes = new WeakMap<Store, string>();
let count = 0;

afterAll(() => server?.stop());

function open(prefix: string = `t${process.pid}_${++count}`): Store {
  const store = postgresStore({ url: server?.url ?? "", prefix, maxConnections: 4 });
  prefixes.set(store, prefix);
  return store;
}

describe.runIf(server)("Postgres", () => {
  for (const { name, run } of sessionStoreContract(() => open(), { reopen: (store) => open(prefixes.get(store)) })) {
    test(name, run);
  }

  test("a pool passed by the caller is never closed", async () => {
    const pool = new pg.Pool({ connectionString: server?.url, max: 2 });
    const store = postgresStore({ pool, prefix: "pooled" });
    await store.session("a").addItem({ role: "user", content: "hello" });
    await store.close();
    expect((await pool.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
    await pool.end();
  });

  test("connections that break between statements are replaced, and no write is lost or repeated", {
    timeout: 30_000,
  }, async () => {
    const admin = new pg.Client({ connectionString: server?.url });
    await admin.connect();
    const store = open();
    const session = store.session("a");
    for (let n = 0; n < 20; n++) {
      await session.addItem({ role: "user", content: String(n) });
      await admin.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'",
      );
    }
    expect((await session.getItems()).map(({ content }) => content)).toEqual(
      Array.from({ length: 20 }, (_, n) => String(n)),
    );
    await store.close();
    await admin.end();
  });

  test("eight stores can open a new database at the same time", { timeout: 30_000 }, async () => {
    const stores = Array.from({ length: 8 }, () => open("fresh"));
    await Promise.all(stores.map((store, n) => store.session(`s${n}`).addItem({ role: "user", content: "x" })));
    expect(await stores[0]?.sessions.list()).toHaveLength(8);
    await Promise.all(stores.map((store) => store.close()));
  });

  test("tables of another program are refused", async () => {
    const admin = new pg.Client({ connectionString: server?.url });
    await admin.connect();
    await admin.query("CREATE TABLE theirs_rows (id int); CREATE TABLE theirs_schema (version int)");
    await expect(open("theirs").ready()).rejects.toMatchObject({ code: "store-foreign" });
    await admin.end();
  });

  test("a newer schema is refused", async () => {
    const admin = new pg.Client({ connectionString: server?.url });
    await admin.connect();
    await open("newer").ready();
    await admin.query("UPDATE newer_schema SET version = 99");
    await expect(open("newer").session("a").getItems()).rejects.toMatchObject({ code: "schema-newer" });
    await admin.end();
  });
});

test("the error for an unreachable server names it without its password", { timeout: 30_000 }, async () => {
  const store = postgresStore({ url: "postgres://me:secret@127.0.0.1:1/nowhere" });
  const failure = store.ready();
  await expect(failure).rejects.toMatchObject({ code: "store-connection" });
  await expect(failure).rejects.not.toThrow(/secret/);
  await expect(failure).rejects.toThrow(/127\.0\.0\.1:1\/nowhere/);
});

test("a prefix that is not a plain name is refused", async () => {
  await expect(postgresStore({ url: "postgres://x", prefix: "a; DROP TABLE b" }).ready()).rejects.toMatchObject({
    code: "invalid-argument",
  });
});
