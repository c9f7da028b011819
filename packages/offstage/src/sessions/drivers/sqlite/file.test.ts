import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { column, message, messages, rowOf, write } from "../../../testing/driver-claims/claim-rows.ts";
import { type SqliteDriver, type SqliteOptions, sqliteDriver } from "./sqlite.ts";

const folder = mkdtempSync(join(tmpdir(), "offstage-file-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function open(name: string, options: SqliteOptions = {}): Promise<SqliteDriver> {
  const driver = sqliteDriver({ path: join(folder, name), ...options });
  onTestFinished(() => driver.close());
  await driver.open();
  if (!options.readOnly) await driver.prepare(1);
  return driver;
}

/** Changes a file by other means than the driver. */
function edit(path: string, sql: string): void {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
}

test("a file of a development version is refused by a sentence that says so, and left unchanged", async () => {
  const path = join(folder, "old.db");
  edit(path, "CREATE TABLE offstage (list TEXT); PRAGMA application_id = 0x4f464653; PRAGMA user_version = 7");
  const before = readFileSync(path);
  await expect(sqliteDriver({ path }).open()).rejects.toMatchObject({
    code: "store-foreign",
    message: `"${path}" was written by a development version before 0.1.0 and cannot be read. Nothing was changed. Choose another path.`,
  });
  expect(readFileSync(path)).toEqual(before);
});

test.for([
  ["an empty file", Buffer.alloc(0), "store-corrupt"],
  ["a text file", Buffer.from("hello, I am a letter\n"), "store-foreign"],
] as const)("%s is refused and left unchanged", async ([name, bytes, code]) => {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  await expect(sqliteDriver({ path }).open()).rejects.toMatchObject({ code });
  expect(readFileSync(path)).toEqual(bytes);
});

test("a file of an older version gets the tables, columns and indexes it lacks, and keeps its rows", async () => {
  const path = join(folder, "older.db");
  const driver = await open("older.db");
  await write(driver, message(1, { content: "kept", fields: "{}" }));
  await driver.close();
  // SQLite removes no column before a comment at the end of a line, so the table is made anew.
  edit(path, "DROP TABLE annotations; DROP INDEX messages_by_run; DROP INDEX messages_by_said");
  edit(path, "CREATE TABLE old AS SELECT * FROM messages; DROP TABLE messages");
  edit(
    path,
    "ALTER TABLE old DROP COLUMN fields; ALTER TABLE old DROP COLUMN is_error; ALTER TABLE old RENAME TO messages",
  );
  edit(path, "CREATE UNIQUE INDEX messages_key ON messages (namespace, session_id, seq)");
  const newer = sqliteDriver({ path });
  onTestFinished(() => newer.close());
  expect(await newer.open()).toBe(1);
  await newer.prepare(2);
  expect(await newer.open()).toBe(2);
  expect(await messages(newer)).toEqual([{ ...rowOf("messages", message(1).row), content: "kept", is_error: null }]);
  await write(newer, message(2, { is_error: true, run_id: "r" }));
  const found = await newer.read({ table: "messages", order: "run", prefix: ["n", "s", "r"] });
  expect(column(found, "is_error")).toEqual([true]);
  expect(await newer.read({ table: "annotations", prefix: ["n", "s"] })).toEqual([]);
  const indexes = new DatabaseSync(path).prepare("SELECT name FROM sqlite_schema WHERE name LIKE 'messages_by%'").all();
  expect(indexes).toHaveLength(2);
});

test("an added column keeps the notes of a table readable", async () => {
  const path = join(folder, "added.db");
  await (await open("added.db")).close();
  edit(path, "ALTER TABLE memories ADD COLUMN later TEXT");
  const [sql] = new DatabaseSync(path).prepare("SELECT sql FROM sqlite_schema WHERE name = 'memories'").all();
  expect(sql?.sql).toContain("exact TEXT, later TEXT, -- JSON: exact values");
});

test("the version never goes back", async () => {
  const driver = await open("version.db");
  await driver.prepare(3);
  await driver.prepare(2);
  expect(await driver.open()).toBe(3);
});

test("four processes prepare and write a new file at the same time", { timeout: 60_000 }, async () => {
  const path = join(folder, "shared.db");
  const script = `
    const { sqliteDriver } = await import(${JSON.stringify(new URL("./sqlite.ts", import.meta.url).href)});
    const driver = sqliteDriver({ path: ${JSON.stringify(path)} });
    await driver.open();
    await driver.prepare(1);
    const row = ${JSON.stringify(message(0).row)};
    for (let n = 0; n < 50; n++) {
      const put = { table: "messages", row: { ...row, seq: n, session_id: String(process.pid) }, numbered: "step" };
      await driver.commit({ label: "session.add", checks: [], writes: [put] });
    }
    await driver.close();`;
  const run = promisify(execFile);
  await Promise.all(Array.from({ length: 4 }, () => run(process.execPath, ["--input-type=module", "-e", script])));
  const driver = await open("shared.db");
  const numbers = column(await driver.select({ table: "messages", where: [] }), "step") as number[];
  expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, n) => n + 1));
});

test("a damaged value comes back as it is", async () => {
  const driver = await open("value.db");
  await write(driver, message(1));
  edit(
    join(folder, "value.db"),
    "UPDATE messages SET is_error = 7, created_at = 'soon', metadata = '{', position = 'x'",
  );
  const [row] = await messages(driver);
  expect(row).toMatchObject({ is_error: 7, created_at: "soon", metadata: "{", position: "x" });
});

test("a full file is reported, and keeps what it has", async () => {
  const driver = await open("full.db", { maxBytes: 400_000 });
  await write(driver, message(1));
  const large = message(2, { content: "x".repeat(1_000_000) });
  await expect(write(driver, large)).rejects.toMatchObject({ code: "store-full" });
  expect(column(await messages(driver), "seq")).toEqual([1]);
});

test("a backup is a file of its own, and an existing one is not replaced", async () => {
  const driver = await open("source.db");
  await write(driver, message(1));
  await driver.backup(join(folder, "copy.db"));
  await write(driver, message(2));
  const copy = await open("copy.db");
  expect(column(await messages(copy), "seq")).toEqual([1]);
  await expect(driver.backup(join(folder, "copy.db"))).rejects.toMatchObject({ code: "invalid-argument" });
  await driver.check();
});

test("the backup of a store in memory is a store", async () => {
  const driver = await open("", { path: ":memory:" });
  await write(driver, message(1));
  await driver.backup(join(folder, "from-memory.db"));
  expect(await messages(await open("from-memory.db"))).toHaveLength(1);
});

test("the methods of a closed driver reject", async () => {
  const driver = await open("closed.db");
  await driver.close();
  await expect(messages(driver)).rejects.toMatchObject({ code: "store-closed" });
  await expect(write(driver, message(1))).rejects.toMatchObject({ code: "store-closed" });
});

// Without the lock, an old SQLite that closes the file believes it was the last user, and deletes the log of the others.
test.runIf(existsSync("/proc/locks"))(
  "opening a file twice keeps the lock that shows other processes it is open",
  async () => {
    await write(await open("twice.db"), message(1));
    await write(await open("twice.db"), message(2));
    const { ino } = statSync(join(folder, "twice.db"));
    const locks = readFileSync("/proc/locks", "utf8").split("\n");
    expect(locks.filter((line) => line.includes(` ${process.pid} `) && line.includes(`:${ino} `))).toHaveLength(1);
  },
);

test("without node:sqlite the error names the Node version that has it", async () => {
  const builtin = process.getBuiltinModule;
  const found = (name: string) => (name === "node:sqlite" ? undefined : builtin.call(process, name));
  const spy = vi.spyOn(process, "getBuiltinModule").mockImplementation(found as typeof builtin);
  onTestFinished(() => spy.mockRestore());
  await expect(sqliteDriver({ path: ":memory:" }).open()).rejects.toMatchObject({
    code: "missing-package",
    message: expect.stringContaining("22.16 or later"),
  });
});

test("a failed creation leaves no file behind", async () => {
  const path = join(folder, "missing", "x.db");
  await expect(sqliteDriver({ path }).open()).rejects.toThrow(/folder ".*missing" does not exist/);
  expect(readdirSync(folder).filter((name) => name.endsWith(".new"))).toEqual([]);
});
