import pg from "pg";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { startPostgres } from "../../../../test/servers/postgres-server.ts";
import { message, messages, rowOf, session, write } from "../../../testing/driver-claims/claim-rows.ts";
import { storeDriverContract } from "../../../testing/driver-contract.ts";
import type { StoreDriver } from "../../ports/store-driver.ts";
import { type PostgresOptions, postgresDriver } from "./postgres.ts";

const server = await startPostgres();
const schemas = new WeakMap<StoreDriver, string>();
let count = 0;

afterAll(() => server?.stop());

const nextSchema = (): string => `t${process.pid}_${++count}`;

function driverOn(schema: string = nextSchema(), options: PostgresOptions = {}): StoreDriver {
  const driver = postgresDriver({ url: server?.url ?? "", schema, maxConnections: 4, ...options });
  schemas.set(driver, schema);
  return driver;
}

async function open(schema?: string, options?: PostgresOptions): Promise<StoreDriver> {
  const driver = driverOn(schema, options);
  onTestFinished(() => driver.close());
  await driver.open();
  await driver.prepare(1);
  return driver;
}

function poolOf(config: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({ connectionString: server?.url, max: 2, ...config });
  pool.on("error", () => {});
  onTestFinished(() => pool.end());
  return pool;
}

describe.runIf(server)("Postgres", () => {
  const reopen = (driver: StoreDriver): StoreDriver => driverOn(schemas.get(driver));
  for (const { name, run } of storeDriverContract(() => driverOn(), { reopen })) test(name, run);
});

describe.runIf(server)("the schema", () => {
  test("eight drivers prepare a new schema at the same time", async () => {
    const schema = nextSchema();
    const drivers = await Promise.all(Array.from({ length: 8 }, () => open(schema)));
    await Promise.all(drivers.map((driver, n) => write(driver, message(n))));
    expect(await messages(drivers[0] as StoreDriver)).toHaveLength(8);
  });

  test("the version never goes back", async () => {
    const driver = await open();
    await driver.prepare(3);
    await driver.prepare(2);
    expect(await driver.open()).toBe(3);
  });

  test("tables of another program are refused, and left alone", async () => {
    const pool = poolOf();
    await pool.query("CREATE SCHEMA theirs; CREATE TABLE theirs.messages (id int)");
    await expect(driverOn("theirs").open()).rejects.toMatchObject({
      code: "store-foreign",
      message: expect.stringMatching(/^The schema "theirs" in Postgres at ".*" contains tables of another program/),
    });
    await pool.query("CREATE SCHEMA other; CREATE TABLE other.version (version int)");
    await expect(driverOn("other").open()).rejects.toMatchObject({ code: "store-foreign" });
  });

  test("a schema of an older version gets the tables, columns and indexes it lacks, and keeps its rows", async () => {
    const schema = nextSchema();
    const driver = await open(schema);
    await write(driver, message(1, { content: "kept" }));
    await poolOf().query(`ALTER TABLE ${schema}.messages DROP COLUMN fields, DROP COLUMN is_error, DROP COLUMN position;
      DROP TABLE ${schema}.annotations; DROP INDEX ${schema}.messages_by_run`);
    await driver.prepare(2);
    expect(await driver.open()).toBe(2);
    expect(await messages(driver)).toEqual([{ ...rowOf("messages", message(1).row), content: "kept", is_error: null }]);
    await write(driver, message(2, { is_error: true, position: 1 }));
    expect(await driver.read({ table: "messages", order: "said", prefix: ["n", "s"] })).toHaveLength(1);
    expect(await driver.read({ table: "annotations", prefix: ["n", "s"] })).toEqual([]);
  });

  test("a user who may not create schemas can use one that was made for it", async () => {
    const schema = nextSchema();
    await poolOf().query(`CREATE ROLE limited LOGIN; CREATE SCHEMA ${schema} AUTHORIZATION limited`);
    const url = new URL(server?.url ?? "");
    url.username = "limited";
    const driver = await open(schema, { url: url.href });
    await write(driver, message(1));
    expect(await messages(driver)).toHaveLength(1);
    await expect(open(nextSchema(), { url: url.href })).rejects.toThrow(/does not permit this/);
  });

  test("tables and columns are described in the database", async () => {
    const schema = nextSchema();
    await open(schema);
    const { rows } = await poolOf().query(`SELECT obj_description('${schema}.messages'::regclass) AS note`);
    expect(rows).toEqual([{ note: "A message of either stream." }]);
  });

  test.for(["a; DROP TABLE b", "Upper", "pg_catalog", ""])('"%s" is refused as the name of a schema', (schema) => {
    expect(() => driverOn(schema)).toThrow(/"schema" must be a plain lower-case name/);
  });
});

describe.runIf(server)("a pool of the caller", () => {
  test("is never closed", async () => {
    const pool = poolOf();
    const driver = await open(undefined, { pool });
    await driver.close();
    expect((await pool.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
  });

  test("may have any settings, and parse types in its own way", async () => {
    // Text stays text; any other type becomes something else.
    const types = {
      getTypeParser: (id: number) => (value: string) => (id === 25 ? value : { parsed: value }),
    } as unknown as pg.CustomTypesConfig;
    const settings = {
      search_path: "nowhere",
      TimeZone: "Asia/Kathmandu",
      DateStyle: "SQL,DMY",
      standard_conforming_strings: "off",
      backslash_quote: "off",
      escape_string_warning: "off",
    };
    const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
    const driver = await open(undefined, { pool: poolOf({ types, options: options.join(" ") }) });
    const row = message(1, { content: "it's \\ 'quoted' \\' $$ \u{1f600}", metadata: '{"a":"\\u0000 \\ud800"}' });
    await write(driver, row);
    expect(await messages(driver)).toEqual([row.row]);
    expect(await driver.get([{ table: "messages", key: ["n", "s", 1] }])).toEqual([row.row]);
    expect(await driver.open()).toBe(1);
  });
});

describe.runIf(server)("connections", () => {
  test("a broken connection is reported as such, and replaced", async () => {
    const driver = await open();
    await write(driver, message(1));
    const admin = poolOf();
    for (let n = 0; n < 5; n++) {
      await admin.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'",
      );
      await messages(driver).catch((error) => expect(error).toMatchObject({ code: "store-connection" }));
      expect(await messages(driver)).toHaveLength(1);
    }
  });

  test("commits of different sessions that check one row do not wait for each other", async () => {
    const driver = await open(undefined, { maxConnections: 4 });
    const schema = schemas.get(driver);
    await write(driver, session("head"));
    const client = await poolOf().connect();
    await client.query("BEGIN");
    const slow = postgresDriver({ pool: client as unknown as pg.Pool, schema });
    const check = { table: "sessions" as const, key: ["n", "head"], where: { fence: 0 } };
    const commit = (of: StoreDriver, id: string) =>
      of.commit({ label: "session.add", checks: [check], writes: [message(1, { session_id: id })] });
    await commit(slow, "one");
    await commit(driver, "two");
    await client.query("COMMIT");
    client.release();
  });
});

test("the error for an unreachable server names it without its password", async () => {
  const failure = postgresDriver({ url: "postgres://me:secret@127.0.0.1:1/nowhere" }).open();
  await expect(failure).rejects.toMatchObject({ code: "store-connection" });
  await expect(failure).rejects.not.toThrow(/secret/);
  await expect(failure).rejects.toThrow(/127\.0\.0\.1:1\/nowhere/);
});

test("a driver needs an address or a pool", () => {
  expect(() => postgresDriver({})).toThrow('A Postgres store needs "url" or "pool".');
});
