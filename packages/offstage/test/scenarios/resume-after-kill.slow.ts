// A run whose process was killed is resumed by id in another process.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, test } from "vitest";
import { expectResumed, killAndResume, killCases, type Survived } from "../processes/kill-and-resume.ts";

const rounds = 2;
const folder = mkdtempSync(join(tmpdir(), "offstage-resume-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("a run whose process was killed", () => {
  const survivors: Map<unknown, Survived>[] = [];
  beforeAll(async () => {
    for (let round = 0; round < rounds; round++) survivors.push(await killAndResume(folder, killCases, round));
  });

  test.for(killCases)(
    "$name is finished by another process if it is unfinished, and nothing is done twice",
    async (each) => {
      for (const survived of survivors) await expectResumed(survived.get(each) as Survived, each);
    },
  );
});
