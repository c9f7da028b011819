import { expect, test } from "vitest";
import { storeDriverContract } from "../../../testing/driver-contract.ts";
import { memoryDriver } from "./memory.ts";

// The place of a memory driver is the driver itself.
const cases = storeDriverContract(memoryDriver, { reopen: (driver) => driver });

for (const { name, run } of cases) test(name, run);

test("rows are frozen", async () => {
  const driver = memoryDriver();
  const row = { namespace: "n", memory_id: "m", seq: 1, role: "user", created_at: "2026-01-02T03:04:05.000Z" };
  await driver.commit({ label: "memory.add", checks: [], writes: [{ table: "memories", row }] });
  const [read] = await driver.read({ table: "memories", prefix: ["n", "m"] });
  expect(Object.isFrozen(read)).toBe(true);
  expect(Object.isFrozen(row)).toBe(false);
});

test("rows whose keys differ by a fraction stay apart", async () => {
  const driver = memoryDriver();
  const starts = [5.75, 5.25, 5.5];
  for (const start_ms of starts) {
    const row = { namespace: "n", session_id: "s", run_id: "r", start_ms, span_id: "a", trace_id: "t" };
    await driver.commit({ label: "spans.add", checks: [], writes: [{ table: "spans", row }] });
  }
  const rows = await driver.read({ table: "spans", prefix: ["n", "s"] });
  expect(rows.map(({ start_ms }) => start_ms)).toEqual([5.25, 5.5, 5.75]);
});
