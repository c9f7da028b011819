// A real Redis server for a test file: the one at TEST_REDIS_URL, or a redis-server from the PATH in a temporary folder.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@redis/client";
import { freePort } from "./postgres-server.ts";

export interface RedisServer {
  readonly url: string;
  /** Kills the server, and starts it again on its append-only file. A no-op for a server that the tests did not start. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a server. Without one the tests are skipped, after a loud warning; with CI=true this throws instead. */
export async function startRedis(): Promise<RedisServer | undefined> {
  const given = process.env.TEST_REDIS_URL;
  if (given !== undefined) return { url: given, restart: async () => {}, stop: async () => {} };
  try {
    return await startLocal();
  } catch (error) {
    if (process.env.CI === "true") throw error;
    process.stderr.write(`\n!!! NO REDIS: its tests are skipped. Install redis-server. ${String(error)}\n\n`);
    return undefined;
  }
}

async function startLocal(): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), "offstage-redis-"));
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  const args = ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, "--save", ""];
  // With any other setting it may reply before it has written, and lose the write when killed.
  args.push("--appendonly", "yes", "--appendfsync", "always");
  const startOnce = async (): Promise<ChildProcess> => {
    const server = spawn("redis-server", args, { stdio: "ignore" });
    const failed = new Promise<never>((_, reject) => {
      server.once("error", reject);
      server.once("exit", (code) => reject(new Error(`redis-server ended with ${code}`)));
    });
    await Promise.race([untilReady(url), failed]);
    failed.catch(() => {});
    return server;
  };
  // While the server is down, another process may briefly take its port.
  const start = async (): Promise<ChildProcess> => {
    for (let attempt = 1; attempt < 10; attempt++) {
      const server = await startOnce().catch(() => undefined);
      if (server !== undefined) return server;
      await sleep(100);
    }
    return startOnce();
  };
  let server = await start();
  const end = (signal: NodeJS.Signals): Promise<void> =>
    new Promise((resolve) => {
      server.once("exit", () => resolve());
      server.kill(signal);
    });
  return {
    url,
    restart: async () => {
      await end("SIGKILL");
      server = await start();
    },
    stop: async () => {
      await end("SIGTERM");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function untilReady(url: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const client = createClient({ url, socket: { reconnectStrategy: false } });
    client.on("error", () => {});
    try {
      await client.connect();
      await client.ping();
      client.destroy();
      return;
    } catch (error) {
      if (attempt > 200) throw error;
      await sleep(25);
    }
  }
}
