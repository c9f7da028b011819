// Runs every lesson and the demo.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { examplesFolder, runDemo, runLesson } from "./processes/run-example.ts";
import { startPostgres } from "./servers/postgres-server.ts";

const lessons = readdirSync(examplesFolder).filter((name) => /^\d\d-.+\.ts$/.test(name));
const scratch = mkdtempSync(join(tmpdir(), "offstage-demo-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

test("there are examples", () => {
  expect(lessons).not.toEqual([]);
});

test.for(lessons)(
  "examples/%s is a lesson: it opens with two lines about itself and has under sixty lines",
  (name, { expect }) => {
    const lines = readFileSync(examplesFolder + name, "utf8")
      .trimEnd()
      .split("\n");
    expect(lines.length).toBeLessThan(60);
    expect(lines[0]).toMatch(new RegExp(`^// Lesson ${Number(name.slice(0, 2))}: `));
    expect(lines[1]).toMatch(/^\/\/ /);
  },
);

test.concurrent.for(lessons)("examples/%s runs, prints something, and prints no warning", async (name, { expect }) => {
  const { stdout, stderr } = await runLesson(name);
  expect(stderr).toBe("");
  expect(stdout.trim()).not.toBe("");
});

test("examples/15-postgres.ts lets two machines share a session", async ({ expect, skip }) => {
  const server = await startPostgres();
  if (server === undefined) return skip();
  try {
    const { stdout, stderr } = await runLesson("15-postgres.ts", { DATABASE_URL: server.url });
    expect(stderr).toBe("");
    expect(stdout).toMatch(/^session-busy: /);
    expect(stdout.trimEnd()).toMatch(/assistant: The second machine answered\.$/);
  } finally {
    await server.stop();
  }
});

test("the demo streams its answer, shows both streams, and counts tokens", async () => {
  const { stdout, stderr } = await runDemo(join(scratch, "whole.db"));
  expect(stderr).toBe("");
  expect(stdout).toContain("Commit 7f3a9c1, deployed at 12:04");
  expect(stdout).toContain("What was said, and what was done to say it");
  expect(stdout).toMatch(/remembered +4 messages/);
  expect(stdout).toMatch(/on_call ×2 1 failed/);
});
