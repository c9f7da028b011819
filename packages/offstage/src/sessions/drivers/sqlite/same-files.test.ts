import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { column, message, messages, write } from "../../../testing/driver-claims/claim-rows.ts";
import { type SqliteDriver, sqliteDriver } from "./sqlite.ts";

const folder = mkdtempSync(join(tmpdir(), "offstage-same-files-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

// A check of the files is valid for 20 ms.
const nextCheck = (): Promise<void> => sleep(25);

async function open(name: string): Promise<{ readonly path: string; readonly driver: SqliteDriver }> {
  const path = join(folder, name);
  const driver = sqliteDriver({ path });
  onTestFinished(() => driver.close().catch(() => {}));
  await driver.open();
  await driver.prepare(1);
  return { path, driver };
}

test.for(["", "-wal", "-shm"])('a deleted file "store.db%s" is noticed before the next write', async (suffix) => {
  const { path, driver } = await open(`deleted${suffix}.db`);
  await write(driver, message(1));
  rmSync(path + suffix);
  await nextCheck();
  const failure = write(driver, message(2));
  await expect(failure).rejects.toMatchObject({ code: "store-gone" });
  await expect(failure).rejects.toThrow(`"${path + suffix}" was deleted or replaced while it was open`);
  const saved = join(folder, `saved${suffix}.db`);
  await driver.backup(saved);
  const copy = sqliteDriver({ path: saved });
  await copy.open();
  expect(column(await messages(copy), "seq")).toEqual([1]);
  await copy.close();
});

test.for(["", "-wal", "-shm"])('a replaced file "store.db%s" is noticed before the next write', async (suffix) => {
  const { path, driver } = await open(`replaced${suffix}.db`);
  await write(driver, message(1));
  writeFileSync(`${path}.other`, "other");
  renameSync(`${path}.other`, path + suffix);
  await nextCheck();
  await expect(write(driver, message(2))).rejects.toMatchObject({ code: "store-gone" });
});

test.for(["-wal", "-shm"])('a file "store.db%s" that is deleted before the first write is noticed', async (suffix) => {
  const { path, driver } = await open(`first${suffix}.db`);
  await driver.close();
  await driver.open();
  rmSync(path + suffix);
  await expect(write(driver, message(1))).rejects.toMatchObject({ code: "store-gone" });
});

test("a file that was moved away and back is accepted", async () => {
  const { path, driver } = await open("moved.db");
  await write(driver, message(1));
  renameSync(`${path}-wal`, `${path}-away`);
  await nextCheck();
  await expect(write(driver, message(2))).rejects.toMatchObject({ code: "store-gone" });
  renameSync(`${path}-away`, `${path}-wal`);
  await write(driver, message(3));
  expect(column(await messages(driver), "seq")).toEqual([1, 3]);
});

test("checkpoints, and other connections that come and go, are accepted", async () => {
  const { path, driver } = await open("checkpoint.db");
  for (let n = 0; n < 5; n++) {
    await write(driver, message(n, { content: "x".repeat(10_000) }));
    const other = new DatabaseSync(path);
    other.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    other.close();
    await nextCheck();
  }
  expect(await messages(driver)).toHaveLength(5);
});

test("a relative path means the same files after the working directory changed", async () => {
  const before = process.cwd();
  const elsewhere = join(folder, "elsewhere");
  mkdirSync(elsewhere);
  process.chdir(folder);
  onTestFinished(() => process.chdir(before));
  const driver = sqliteDriver({ path: "relative.db" });
  await driver.open();
  await driver.prepare(1);
  process.chdir(elsewhere);
  await nextCheck();
  await write(driver, message(1));
  expect(await messages(driver)).toHaveLength(1);
  await driver.close();
});
