import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { texts } from "../testing/store-claims/claim.ts";
import { sqliteStore } from "./open-store.ts";
import { openSchema } from "./schema.ts";
import type { StoreDriver } from "./store-driver.ts";
import { memoryDriver } from "./stores/memory.ts";

const folder = mkdtempSync(join(tmpdir(), "offstage-schema-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const put = (driver: StoreDriver, key: string, value: string) =>
  driver.commit({ label: "store.migrate", checks: [], writes: [{ list: "l", key, value }] });

test("a store written with schema version 1 is readable", async () => {
  const path = join(folder, "v1.db");
  cpSync(new URL("../../test/stores/golden/v1.sqlite", import.meta.url), path);
  const store = sqliteStore({ path });
  expect(texts(await store.session("golden").getItems())).toEqual([
    "question 1",
    "answer 1",
    "question 2",
    "answer 2",
    "open",
  ]);
  const [open, second] = await store.session("golden").runs();
  expect([open?.status, second?.status]).toEqual(["interrupted", "completed"]);
  expect((await store.runs.get("run-golden-2"))?.steps).toHaveLength(2);
  expect((await store.runs.get("left-open"))?.openStep?.pending.map(({ id }) => id)).toEqual(["b"]);
  expect(await store.runs.value("left-open", "a")).toEqual({ whole: "value" });
  const times = { startTime: 1767225600000.125, endTime: 1767225600001.25, duration: 1.125 };
  expect(await store.spans.list({ runId: "left-open" })).toMatchObject([{ name: "tool f", ...times }]);
  expect(await store.verify()).toEqual([]);
  await store.close();
});

test("an older version is migrated step by step; the current version is not", async () => {
  const driver = memoryDriver();
  await openSchema(driver, []);
  const done: number[] = [];
  const steps = [1, 2].map((n) => async (on: StoreDriver) => {
    done.push(n);
    await put(on, String(n), "migrated");
  });
  await openSchema(driver, steps);
  await openSchema(driver, steps);
  expect(done).toEqual([1, 2]);
  expect(await driver.open()).toBe(3);
  await expect(openSchema(driver, [])).rejects.toMatchObject({ code: "schema-newer" });
});

test("if several processes open an older version at the same time, one migrates it", async () => {
  const driver = memoryDriver();
  await openSchema(driver, []);
  let count = 0;
  const steps = [
    async () => {
      await new Promise((resolve) => setTimeout(resolve, 30));
      count++;
    },
  ];
  await Promise.all([1, 2, 3].map(() => openSchema(driver, steps)));
  expect(count).toBe(1);
  expect(await driver.read("schema")).toEqual([]);
});

test("a migration whose process died is repeated by another process", async () => {
  const driver = memoryDriver();
  await openSchema(driver, []);
  const dead = JSON.stringify({ holder: "elsewhere 1 1 x", seen: Date.now() - 60_000 });
  await driver.commit({ label: "store.migrate", checks: [], writes: [{ list: "schema", key: "lock", value: dead }] });
  let count = 0;
  await openSchema(driver, [async () => void count++]);
  expect([count, await driver.open()]).toEqual([1, 2]);
});
