// Repeats the kills of people.slow.ts many times.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { killAtInbox } from "../processes/spawn-people.ts";
import { isShort } from "../support/torture.ts";

const rounds = isShort ? 25 : 250;
const folder = mkdtempSync(join(tmpdir(), "offstage-people-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test(`${rounds * 4} kills at inbox.add and inbox.take: every message is seen exactly once`, async () => {
  const kills = await killAtInbox(join(folder, "kills.db"), rounds);
  expect(kills).toBe(rounds * 4);
  process.stdout.write(`${kills} kills at inbox.add and inbox.take: every message exactly once\n`);
});
