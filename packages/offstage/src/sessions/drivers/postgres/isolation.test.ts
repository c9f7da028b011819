import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { startPostgres } from "../../../../test/servers/postgres-server.ts";
import { message, messages, session, write } from "../../../testing/driver-claims/claim-rows.ts";
import type { Check, StoreDriver } from "../../ports/store-driver.ts";
import { type PostgresPool, postgresDriver } from "./postgres.ts";

const server = await startPostgres();
afterAll(() => server?.stop());

const levels = ["read committed", "repeatable read", "serializable"] as const;

function poolWith(level: string): pg.Pool {
  const options = `-c default_transaction_isolation=${level.replace(" ", "\\ ")}`;
  const pool = new pg.Pool({ connectionString: server?.url, max: 4, options });
  // The server may stop before the last connection is closed.
  pool.on("error", () => {});
  onTestFinished(() => pool.end());
  return pool;
}

/** Commits through one client, whose transaction stays open until `finish` is called. */
async function slowDriver(pool: pg.Pool, schema: string): Promise<{ driver: StoreDriver; finish(): Promise<void> }> {
  const client = await pool.connect();
  await client.query("BEGIN");
  return {
    driver: postgresDriver({ pool: client as unknown as PostgresPool, schema }),
    finish: async () => {
      await client.query("COMMIT");
      client.release();
    },
  };
}

async function untilWaiting(pool: pg.Pool): Promise<void> {
  const waiting = "SELECT FROM pg_locks WHERE NOT granted AND locktype = 'advisory'";
  while ((await pool.query(waiting)).rowCount === 0) await sleep(5);
}

describe.runIf(server).for(levels)("with %s as the default isolation level", (level) => {
  async function prepared(): Promise<{ pool: pg.Pool; driver: StoreDriver; schema: string }> {
    const [pool, schema] = [poolWith(level), `isolation_${level.replace(" ", "_")}_${Date.now()}`];
    const driver = postgresDriver({ pool, schema });
    await driver.open();
    await driver.prepare(1);
    expect((await pool.query("SHOW transaction_isolation")).rows).toEqual([{ transaction_isolation: level }]);
    return { pool, driver, schema };
  }

  test("a late write of a replaced holder is refused, and gets the row of the new one", async () => {
    const { pool, driver, schema } = await prepared();
    await write(driver, session("s", { version: "1", lease_holder: "old" }));
    const check: Check = { table: "sessions", key: ["n", "s"], where: { version: "1" } };
    const slow = await slowDriver(pool, schema);
    const taken = session("s", { version: "2", lease_holder: "new" });
    await slow.driver.commit({ label: "run.begin", checks: [check], writes: [taken] });
    const late = driver.commit({ label: "run.end", checks: [check], writes: [message(1)] });
    await untilWaiting(pool);
    await slow.finish();
    expect(await late).toEqual({ refused: [taken.row] });
    expect(await messages(driver)).toEqual([]);
  });

  test("a row that must be absent is seen if it was put meanwhile", async () => {
    const { pool, driver, schema } = await prepared();
    const check: Check = { table: "sessions", key: ["n", "s"] };
    const slow = await slowDriver(pool, schema);
    await slow.driver.commit({ label: "run.begin", checks: [check], writes: [session("s")] });
    const late = driver.commit({ label: "run.begin", checks: [check], writes: [message(1)] });
    await untilWaiting(pool);
    await slow.finish();
    expect(await late).toEqual({ refused: [session("s").row] });
    expect(await messages(driver)).toEqual([]);
  });

  test("20 writers that compete for a row: each change is made once", async () => {
    const { driver } = await prepared();
    await write(driver, session("s", { fence: 0 }));
    const increment = async (): Promise<void> => {
      for (;;) {
        const [row] = await driver.get([{ table: "sessions", key: ["n", "s"] }]);
        const fence = Number(row?.fence);
        const check: Check = { table: "sessions", key: ["n", "s"], where: { fence } };
        const writes = [session("s", { fence: fence + 1 })];
        if ((await driver.commit({ label: "session.add", checks: [check], writes })).refused === undefined) return;
      }
    };
    await Promise.all(Array.from({ length: 20 }, increment));
    expect(await driver.get([{ table: "sessions", key: ["n", "s"] }])).toMatchObject([{ fence: 20 }]);
  });
});
