import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, expect, test } from "vitest";
import { sqliteStore } from "../../src/sessions/open-store.ts";
import { turn } from "../../src/testing/store-claims/claim.ts";

const folder = mkdtempSync(join(tmpdir(), "offstage-soak-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

test("20,000 turns: heap and time per turn stay flat", async () => {
  const path = join(folder, "soak.db");
  const store = sqliteStore({ path });
  const heap: number[] = [];
  const times: number[] = [];
  for (let n = 0; n < 20_000; n++) {
    const begun = performance.now();
    await turn(store, "s", n);
    times.push(performance.now() - begun);
    if (n % 2_000 !== 1_999) continue;
    collect();
    heap.push(process.memoryUsage().heapUsed);
  }
  const slope = ((heap.at(-1) ?? 0) - (heap[0] ?? 0)) / 18_000;
  const [early, late] = [times.slice(1_000, 3_000), times.slice(-2_000)].map(median) as [number, number];
  await store.close();
  const report = `heap slope ${slope.toFixed(0)} B per turn, turn ${early.toFixed(3)} ms early and ${late.toFixed(3)} ms late`;
  process.stdout.write(`20,000 turns: ${report}, ${(statSync(path).size / 20_000).toFixed(0)} B of file per turn\n`);
  expect(slope).toBeLessThan(200);
  expect(late / early).toBeLessThan(1.5);
});

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
}
