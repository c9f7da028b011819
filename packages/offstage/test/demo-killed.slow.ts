// Kills the demo at several moments and starts it again.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, test } from "vitest";
import { runDemo } from "./processes/run-example.ts";

const scratch = mkdtempSync(join(tmpdir(), "offstage-demo-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

test.concurrent.for(["latency {", "on-call, step 2", "read_diff {", "on-call, step 3"])(
  'the demo resumes its run after it was killed at "%s"',
  async (killAt, { expect }) => {
    const path = join(scratch, `${killAt.replaceAll(/\W/g, "-")}.db`);
    expect(await runDemo(path, killAt)).toMatchObject({ stderr: "", signal: "SIGKILL" });
    const { stdout, stderr } = await runDemo(path);
    expect(stderr).toBe("");
    expect(stdout).toContain("Resuming the interrupted run");
    expect(stdout).toMatch(/remembered +4 messages/);
  },
);
