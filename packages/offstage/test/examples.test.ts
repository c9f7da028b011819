// Runs every numbered example as a user would: its own process, no key, the built package.
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const folder = fileURLToPath(new URL("../../../examples/", import.meta.url));
const examples = readdirSync(folder).filter((name) => /^\d\d-.+\.ts$/.test(name));

test("there are examples", () => {
  expect(examples).not.toEqual([]);
});

test.concurrent.for(examples)(
  "examples/%s runs, prints something and warns of nothing",
  { timeout: 60_000 },
  async (name, { expect }) => {
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: process.env.TMPDIR, NO_COLOR: "1" };
    // A non-zero exit rejects with the output of the example in its message.
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [name], { cwd: folder, env });
    expect(stderr).toBe("");
    expect(stdout.trim()).not.toBe("");
  },
);
