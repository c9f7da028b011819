// A long conversation: memory and the cost of a turn stay what they were. 20,000 turns are in soak.torture.ts.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { shown, soak } from "../processes/soak.ts";

const folder = mkdtempSync(join(tmpdir(), "offstage-soak-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("2,000 turns on one SQLite session: the heap does not grow, and a turn costs what it did", async () => {
  const soaked = await soak(folder, 2000, { keepMessages: 100 });
  process.stdout.write(shown(2000, soaked));
  expect(soaked.slope).toBeLessThan(200);
  expect(soaked.lateMs / soaked.earlyMs).toBeLessThan(3);
});
