// The Postgres driver behind PgBouncer in transaction mode, in which consecutive statements may run on different connections.
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, describe, expect, test } from "vitest";
import { postgresDriver } from "../../src/sessions/drivers/postgres/postgres.ts";
import type { StoreDriver } from "../../src/sessions/ports/store-driver.ts";
import { message, messages, session, write } from "../../src/testing/driver-claims/claim-rows.ts";
import { storeDriverContract } from "../../src/testing/driver-contract.ts";
import { freePort, startPostgres } from "../servers/postgres-server.ts";

interface Bouncer {
  readonly url: string;
  stop(): Promise<void>;
}

const binary = [...(process.env.PATH ?? "").split(":"), "/usr/sbin"]
  .map((folder) => join(folder, "pgbouncer"))
  .find(existsSync);
if (binary === undefined) {
  process.stderr.write("\n!!! NO PGBOUNCER: its tests are skipped. Install it: apt-get install pgbouncer\n\n");
}

const server = binary === undefined ? undefined : await startPostgres();
const bouncer = binary === undefined || server === undefined ? undefined : await startBouncer(binary, server.url);

afterAll(async () => {
  await bouncer?.stop();
  await server?.stop();
});

/** Starts PgBouncer with two connections to the server, which all clients share. */
async function startBouncer(program: string, target: string): Promise<Bouncer> {
  const { hostname, port, username, pathname } = new URL(target);
  const folder = mkdtempSync(join(tmpdir(), "offstage-pgbouncer-"));
  const listenPort = await freePort();
  const config = join(folder, "pgbouncer.ini");
  const lines = [
    "[databases]",
    `${pathname.slice(1)} = host=${hostname} port=${port} user=${username}`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${listenPort}`,
    "unix_socket_dir =",
    "auth_type = any",
    "pool_mode = transaction",
    "default_pool_size = 2",
    "max_client_conn = 200",
  ];
  writeFileSync(config, `${lines.join("\n")}\n`);
  chmodSync(folder, 0o755);
  // PgBouncer refuses to run as root.
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const child = spawn(program, ["-q", config], { ...user, stdio: "ignore" });
  const url = `postgres://${username}@127.0.0.1:${listenPort}${pathname}`;
  await untilReady(url, child);
  return {
    url,
    stop: async () => {
      const exited = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function untilReady(url: string, child: ChildProcess): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const client = new pg.Client({ connectionString: url });
    client.on("error", () => {});
    try {
      await client.connect();
      await client.query("SELECT 1");
      await client.end();
      return;
    } catch (error) {
      if (attempt > 200 || child.exitCode !== null) throw error;
      await sleep(25);
    }
  }
}

describe.runIf(bouncer)("behind PgBouncer in transaction mode", () => {
  const schemas = new WeakMap<StoreDriver, string>();
  let count = 0;
  const open = (schema = `bounced_${++count}`): StoreDriver => {
    const driver = postgresDriver({ url: bouncer?.url, schema, maxConnections: 4 });
    schemas.set(driver, schema);
    return driver;
  };

  test("named prepared statements do fail here, which is why the driver has none", async () => {
    const clients = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const client = new pg.Client({ connectionString: bouncer?.url });
        await client.connect();
        return client;
      }),
    );
    const work = clients.map(async (client) => {
      for (let n = 0; n < 50; n++) await client.query({ name: "same", text: "SELECT $1::int", values: [n] });
    });
    const outcomes = await Promise.allSettled(work);
    expect(outcomes.some(({ status }) => status === "rejected")).toBe(true);
    await Promise.all(clients.map((client) => client.end()));
  });

  for (const { name, run } of storeDriverContract(() => open(), {
    reopen: (driver) => open(schemas.get(driver)),
  })) {
    test(name, run);
  }

  test("eight drivers write and read at the same time through two connections", async () => {
    const drivers = Array.from({ length: 8 }, () => open("crowd"));
    await Promise.all(
      drivers.map(async (driver) => {
        await driver.open();
        await driver.prepare(1);
      }),
    );
    const work = drivers.map(async (driver, n) => {
      for (let seq = 0; seq < 50; seq++) {
        await write(driver, session(`s${n}`), message(n * 50 + seq));
        await driver.get([{ table: "sessions", key: ["n", `s${n}`] }]);
      }
    });
    await Promise.all(work);
    expect(await messages(drivers[0] as StoreDriver)).toHaveLength(400);
    await Promise.all(drivers.map((driver) => driver.close()));
  });
});
