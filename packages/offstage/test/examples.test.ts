// Runs every numbered example and the demonstration as a user would: a process of its own, no key, the built package.
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { startPostgres } from "./servers/postgres-server.ts";

const folder = fileURLToPath(new URL("../../../examples/", import.meta.url));
const examples = readdirSync(folder).filter((name) => /^\d\d-.+\.ts$/.test(name));
const scratch = mkdtempSync(join(tmpdir(), "offstage-demo-"));
const env = { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: process.env.TMPDIR, NO_COLOR: "1" };

afterAll(() => rmSync(scratch, { recursive: true, force: true }));

test("there are examples", () => {
  expect(examples).not.toEqual([]);
});

test.for(examples)("examples/%s is a lesson: two lines of what it teaches, under sixty lines", (name, { expect }) => {
  const lines = readFileSync(folder + name, "utf8")
    .trimEnd()
    .split("\n");
  expect(lines.length).toBeLessThan(60);
  expect(lines[0]).toMatch(new RegExp(`^// Lesson ${Number(name.slice(0, 2))}: `));
  expect(lines[1]).toMatch(/^\/\/ /);
});

test.concurrent.for(examples)(
  "examples/%s runs, prints something and warns of nothing",
  { timeout: 60_000 },
  async (name, { expect }) => {
    // A non-zero exit rejects with the output of the example in its message.
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [name], { cwd: folder, env });
    expect(stderr).toBe("");
    expect(stdout.trim()).not.toBe("");
  },
);

test("examples/15-postgres.ts lets two machines share a session", { timeout: 60_000 }, async ({ expect, skip }) => {
  const server = await startPostgres();
  if (server === undefined) return skip();
  try {
    const settings = { ...env, DATABASE_URL: server.url };
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ["15-postgres.ts"], {
      cwd: folder,
      env: settings,
    });
    expect(stderr).toBe("");
    expect(stdout).toMatch(/^session-busy: /);
    expect(stdout.trimEnd()).toMatch(/assistant: The second machine answered\.$/);
  } finally {
    await server.stop();
  }
});

/** Runs the demonstration on a file of its own; kills it as soon as it has printed `killAt`. */
async function demo(file: string, killAt?: string): Promise<{ stdout: string; signal: string | null }> {
  const pace = killAt === undefined ? "0" : "0.5";
  const settings = { ...env, OFFSTAGE_DEMO_DB: join(scratch, file), OFFSTAGE_DEMO_PACE: pace };
  const child = spawn(process.execPath, ["demo.ts"], { cwd: folder, env: settings });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    if (killAt !== undefined && stdout.includes(killAt)) child.kill("SIGKILL");
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const signal = await new Promise<string | null>((resolve) => child.on("close", (_, ending) => resolve(ending)));
  expect(stderr).toBe("");
  return { stdout, signal };
}

test.concurrent("the demonstration streams, shows both streams and counts", { timeout: 60_000 }, async ({ expect }) => {
  const { stdout } = await demo("whole.db");
  expect(stdout).toContain("Commit 7f3a9c1, deployed at 12:04");
  expect(stdout).toContain("What was said, and what was done to say it");
  expect(stdout).toMatch(/remembered +4 messages/);
  expect(stdout).toMatch(/on_call ×2 1 failed/);
});

test.concurrent.for(["latency {", "on-call, step 2", "read_diff {", "on-call, step 3"])(
  'the demonstration, killed at "%s", goes on where it was',
  { timeout: 60_000 },
  async (killAt, { expect }) => {
    const file = `killed ${killAt.replaceAll(/\W/g, "-")}.db`;
    expect((await demo(file, killAt)).signal).toBe("SIGKILL");
    const { stdout } = await demo(file);
    expect(stdout).toContain("Going on with the run that was cut off");
    expect(stdout).toMatch(/remembered +4 messages/);
  },
);
