// A long conversation: memory use and the cost of a turn stay flat. soak.torture.ts plays 20,000 turns.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { shown, soak } from "../processes/soak.ts";

const folder = mkdtempSync(join(tmpdir(), "offstage-soak-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("2,000 turns on one SQLite session: heap and cost per turn stay flat", async () => {
  const soaked = await soak(folder, 2000, { keepMessages: 100 });
  process.stdout.write(shown(2000, soaked));
  expect(soaked.slope).toBeLessThan(200);
  expect(soaked.lateMs / soaked.earlyMs).toBeLessThan(3);
});
