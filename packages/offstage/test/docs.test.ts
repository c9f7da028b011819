// Type-checks and runs the code in README.md and docs/, so that code a reader copies works. Reads the built package.
import { execFile } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type DocProgram, programsOf, readPages, typeCheck } from "./support/doc-pages.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
// Ignored by git, and inside the package, so that "offstage" resolves to the package just built.
const folder = fileURLToPath(new URL(`../dist/.docs-${process.pid}/`, import.meta.url));
const run = promisify(execFile);

const pages = readPages(root);
const programs = pages.flatMap(({ path, text }) => programsOf(path, text));

beforeAll(() => {
  mkdirSync(folder, { recursive: true });
  for (const { name, code } of programs) writeFileSync(folder + name, code);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("README.md has code that is run", () => {
  expect(programs.filter(({ name, isRun }) => name.startsWith("README") && isRun)).not.toEqual([]);
});

test("every code block in the docs type-checks", async () => {
  expect(await typeCheck(folder, { root, files: programs.map(({ name }) => name) })).toBe("");
});

// The store of adding-a-store.md flushes its file for every write of a contract suite, which takes long on a busy disk.
test.concurrent.for(programs.filter(({ isRun }) => isRun))(
  "$name runs, prints what its comments say, and prints no warning",
  { timeout: 120_000 },
  async ({ name, code }: DocProgram, { expect }) => {
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: process.env.TMPDIR, NO_COLOR: "1" };
    const { stdout, stderr } = await run(process.execPath, [folder + name], { cwd: folder, env });
    expect(stderr).toBe("");
    expect(unkept(code, stdout)).toEqual([]);
  },
);

// The comment after each console.log must be printed, in this order.
function unkept(code: string, printed: string): string[] {
  let from = 0;
  const promises = [...code.matchAll(/^\s*console\.log\(.*\); \/\/ (.+)$/gm)].map(([, promise = ""]) => promise);
  return promises.filter((promise) => {
    const at = printed.indexOf(promise, from);
    if (at !== -1) from = at + promise.length;
    return at === -1;
  });
}
