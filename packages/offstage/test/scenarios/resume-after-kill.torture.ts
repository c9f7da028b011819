// Repeats resume-after-kill.slow.ts many times at each point.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { expectResumed, killAndResume, killCases } from "../processes/kill-and-resume.ts";
import { isShort } from "../support/torture.ts";

const rounds = isShort ? 5 : 50;
const folder = mkdtempSync(join(tmpdir(), "offstage-resume-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test(`runs killed ${rounds} times at each point are finished by another process, and nothing is done twice`, async () => {
  let count = 0;
  for (let round = 0; round < rounds; round++) {
    for (const [each, survived] of await killAndResume(folder, killCases, round)) {
      await expectResumed(survived, each);
      count++;
    }
  }
  expect(count).toBe(rounds * killCases.length);
  process.stdout.write(`${count} kills at ${killCases.length} points: every run finished once, no tool twice\n`);
});
