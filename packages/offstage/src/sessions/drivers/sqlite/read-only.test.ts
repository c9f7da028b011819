import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { column, message, messages, write } from "../../../testing/driver-claims/claim-rows.ts";
import { type SqliteDriver, sqliteDriver } from "./sqlite.ts";

const folder = mkdtempSync(join(tmpdir(), "offstage-read-only-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function driverOn(path: string, readOnly = false): SqliteDriver {
  const driver = sqliteDriver({ path, readOnly });
  onTestFinished(() => driver.close());
  return driver;
}

async function written(name: string): Promise<{ readonly path: string; readonly writer: SqliteDriver }> {
  const path = join(folder, name);
  const writer = driverOn(path);
  await writer.open();
  await writer.prepare(1);
  await write(writer, message(1, { content: "one" }));
  return { path, writer };
}

test("a read-only driver reads what another connection writes meanwhile", async () => {
  const { path, writer } = await written("meanwhile.db");
  const reader = driverOn(path, true);
  expect(await reader.open()).toBe(1);
  await write(writer, message(2, { content: "two" }));
  expect(column(await messages(reader), "content")).toEqual(["one", "two"]);
  expect(await reader.get([{ table: "messages", key: ["n", "s", 1] }])).toMatchObject([{ content: "one" }]);
  expect(await reader.select({ table: "messages", where: [{ column: "content", contains: "TW" }] })).toHaveLength(1);
  await write(writer, message(3));
});

test("a read-only driver refuses to write and to prepare", async () => {
  const { path, writer } = await written("refused.db");
  const reader = driverOn(path, true);
  await reader.open();
  await expect(write(reader, message(2))).rejects.toMatchObject({ code: "store-read-only" });
  await expect(reader.prepare(2)).rejects.toMatchObject({ code: "store-read-only" });
  expect(column(await messages(writer), "seq")).toEqual([1]);
});

test("a read-only driver leaves a file that nobody else uses byte-identical", async () => {
  const { path, writer } = await written("unchanged.db");
  await writer.close();
  const before = readFileSync(path);
  const reader = driverOn(path, true);
  expect(await reader.open()).toBe(1);
  expect(await messages(reader)).toHaveLength(1);
  await reader.backup(join(folder, "backup.db"));
  await reader.close();
  expect(readFileSync(path)).toEqual(before);
});

test("a read-only driver does not change the journal mode", async () => {
  const { path, writer } = await written("mode.db");
  await writer.close();
  const database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode = DELETE");
  database.close();
  const before = readFileSync(path);
  const reader = driverOn(path, true);
  await reader.open();
  expect(await messages(reader)).toHaveLength(1);
  await reader.close();
  expect(readFileSync(path)).toEqual(before);
});

test("a read-only driver never creates a file", async () => {
  const path = join(folder, "none.db");
  await expect(driverOn(path, true).open()).rejects.toMatchObject({
    code: "store-failed",
    message: `"${path}" does not exist, and is opened for reading only.`,
  });
  expect(existsSync(path)).toBe(false);
});

test("reading does not take a file out of another journal mode, and the first write puts it into WAL mode", async () => {
  const { path, writer } = await written("back.db");
  await writer.close();
  const database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode = DELETE");
  database.close();
  const again = driverOn(path);
  await again.open();
  await messages(again);
  expect(existsSync(`${path}-wal`)).toBe(false);
  await write(again, message(2));
  expect(existsSync(`${path}-wal`)).toBe(true);
});

// Root may write everything, so that it reads as "nobody".
test.runIf(process.platform !== "win32")("a file in a folder without write permission can be read", async () => {
  const { path, writer } = await written("permission.db");
  await writer.close();
  chmodSync(path, 0o444);
  chmodSync(folder, 0o555);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  try {
    const reader = driverOn(path, true);
    expect(await reader.open()).toBe(1);
    expect(await messages(reader)).toHaveLength(1);
    await reader.close();
  } finally {
    if (isRoot) process.seteuid?.(0);
    chmodSync(folder, 0o755);
  }
  expect(existsSync(`${path}-wal`)).toBe(false);
});
