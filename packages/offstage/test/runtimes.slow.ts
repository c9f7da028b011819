// Runs the smoke test of interop/ with the built package on the runtimes that the README names. Their binaries come from npm.
import { execFile } from "node:child_process";
import { existsSync, globSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startPostgres } from "./servers/postgres-server.ts";
import { startRedis } from "./servers/redis-server.ts";
import { installInterop } from "./support/interop.ts";

const run = promisify(execFile);
const interop = fileURLToPath(new URL("../../../interop/", import.meta.url));
const dist = fileURLToPath(new URL("../dist/", import.meta.url));

const everywhere = [
  "an agent runs with a tool",
  "a run is streamed",
  "a run is aborted",
  "a session is kept in memory",
  "a session is encrypted",
  "runs on one session wait for each other",
  "spans follow asynchronous code",
  "spans are exported in batches",
  "messages are queried and exported",
  "an agent is served",
  "misuse is refused by code",
];
const servers = await Promise.all([startPostgres(), startRedis()]);
const urls = servers.flatMap((server) => server?.url ?? []);
const withFiles = [
  ...everywhere,
  "a session is kept on SQLite",
  ...urls.map((url) => `a session is kept at ${new URL(url).protocol}`),
];
afterAll(() => Promise.all(servers.map((server) => server?.stop())));

/** Runs a process and returns the claims it printed as passed. */
async function claimsOf(binary: string, args: readonly string[]): Promise<string[]> {
  const { stdout } = await run(binary, args, { cwd: interop, timeout: 60_000 });
  return [...stdout.matchAll(/^ok: (.+)$/gm)].map(([, claim = ""]) => claim);
}

const installed = new Map<string, Promise<unknown>>();

/** Installs the runtimes of a folder of interop/ once, and returns whether `binary` exists: not every platform has it. */
async function install(folder: string, binary: string): Promise<boolean> {
  const isExpected = process.platform === "linux" && process.arch === "x64";
  if (isExpected && !installed.has(folder)) installed.set(folder, installInterop(folder));
  await installed.get(folder);
  if (existsSync(binary)) return true;
  if (isExpected) throw new Error(`"npm ci" in interop/${folder} did not bring ${binary}.`);
  process.stderr.write(
    `\n!!! NO ${folder.toUpperCase()} for ${process.platform} ${process.arch}: it is not tested.\n\n`,
  );
  return false;
}

const processes = [
  { name: "Node 22.16", folder: "node", path: "node-22/bin/node", args: [] },
  { name: "Node 26", folder: "node", path: "node-26/bin/node", args: [] },
  { name: "Bun", folder: "bun", path: "@oven/bun-linux-x64/bin/bun", args: ["run"] },
  {
    name: "Deno",
    folder: "deno",
    path: "@deno/linux-x64-glibc/deno",
    args: ["run", "--allow-all", "--node-modules-dir=manual"],
  },
];

describe("the package works", () => {
  test.for(processes)("on $name", async ({ folder, path, args }, { expect, skip }) => {
    const binary = join(interop, folder, "node_modules", path);
    if (!(await install(folder, binary))) return skip();
    expect(await claimsOf(binary, [...args, "run-smoke.js", ...urls])).toEqual(withFiles);
  });
});

describe("the package works on workerd", () => {
  const binary = join(interop, "workerd/node_modules/@cloudflare/workerd-linux-64/bin/workerd");
  let isInstalled = false;
  beforeAll(async () => {
    isInstalled = await install("workerd", binary);
  });

  // The first date on which nodejs_compat has what we need, and the last on which it must be enabled explicitly.
  test.for(["2024-09-23", "2026-08-03"])("with nodejs_compat, as of %s", async (date, { skip }) => {
    if (!isInstalled) return skip();
    const folder = mkdtempSync(join(tmpdir(), "offstage-workerd-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const config = join(folder, "config.capnp");
    writeFileSync(config, workerdConfig(folder, date));
    expect(await claimsOf(binary, ["test", config])).toEqual(everywhere);
  });
});

/** A configuration for `workerd test`. It resolves bare specifiers by module name, so "offstage" is declared as a module. */
function workerdConfig(folder: string, date: string): string {
  const file = (name: string, path: string) => `(name = "${name}", esModule = embed "${relative(folder, path)}")`;
  const modules = [
    file("workerd/worker.js", join(interop, "workerd/worker.js")),
    file("smoke.js", join(interop, "smoke.js")),
    `(name = "offstage", esModule = "export * from './offstage/dist/index.js';")`,
    `(name = "offstage/serve", esModule = "export * from './dist/doors/serve.js';")`,
    `(name = "offstage/testing", esModule = "export * from './dist/testing/index.js';")`,
    `(name = "offstage/tracing", esModule = "export * from './dist/doors/tracing.js';")`,
    ...globSync("**/*.js", { cwd: dist }).map((path) => file(`offstage/dist/${path}`, join(dist, path))),
  ];
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [(name = "main", worker = (
  compatibilityDate = "${date}",
  compatibilityFlags = ["nodejs_compat"],
  modules = [${modules.join(",\n    ")}],
))]);
`;
}
