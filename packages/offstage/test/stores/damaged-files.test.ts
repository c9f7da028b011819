import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isOffstageError, type OffstageError } from "../../src/errors.ts";
import { sqliteStore } from "../../src/sessions/open-store.ts";
import { PersistentSession } from "../../src/sessions/persistent-session.ts";
import type { Store } from "../../src/sessions/store.ts";
import { calling, open, resultOf, said, start, step, texts, turn } from "../../src/testing/store-claims/claim.ts";
import { fullOrFifth } from "../support/full-or-fifth.ts";
import { damage } from "../support/stored-rows.ts";

const folder = mkdtempSync(join(tmpdir(), "offstage-damaged-"));
const golden = join(folder, "golden.db");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

beforeAll(async () => {
  const store = sqliteStore({ path: golden });
  for (let n = 0; n < 20; n++) await turn(store, "s", n);
  await store.session("other").addItem(said("hello"));
  await store.close();
});

/** Everything that can be read from a store, as text. */
async function contents(store: Store): Promise<string> {
  const runs = await Promise.all((await store.runs.list()).map(({ runId }) => store.runs.get(runId)));
  const items = await Promise.all(["s", "other"].map((id) => store.session(id).getItems()));
  return JSON.stringify([items, runs, await store.sessions.list()]);
}

describe("a file that is not a store is refused and left unchanged", () => {
  const foreign = join(folder, "foreign-source.db");
  const database = new DatabaseSync(foreign);
  database.exec("CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)");
  database.close();
  test.for([
    ["an empty file", Buffer.alloc(0), "store-corrupt"],
    ["a text file", Buffer.from("hello, I am a letter\n"), "store-foreign"],
    ["a short binary file", Buffer.from([0x89, 0x50, 0x4e, 0x47]), "store-foreign"],
    ["a database of another program", readFileSync(foreign), "store-foreign"],
  ] as const)("%s", async ([name, bytes, code]) => {
    const path = join(folder, `${name}.db`);
    writeFileSync(path, bytes);
    await expect(PersistentSession.persistent("s", { path })).rejects.toMatchObject({ code });
    await expect(sqliteStore({ path }).session("s").addItem(said("x"))).rejects.toThrow(path);
    expect(readFileSync(path)).toEqual(bytes);
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  test("a folder", async () => {
    await expect(sqliteStore({ path: folder }).ready()).rejects.toMatchObject({ code: "store-foreign" });
  });
});

test("a newer schema is refused, and the file stays byte-identical", async () => {
  const path = join(folder, "newer.db");
  copyFileSync(golden, path);
  const database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode = DELETE; PRAGMA user_version = 99");
  database.close();
  const before = readFileSync(path);
  await expect(sqliteStore({ path }).session("s").getItems()).rejects.toMatchObject({ code: "schema-newer" });
  await expect(sqliteStore({ path }).session("s").addItem(said("x"))).rejects.toMatchObject({ code: "schema-newer" });
  expect(readFileSync(path)).toEqual(before);
});

/** A copy of the golden file with a damage. */
function damagedCopy(name: string, ...statements: readonly string[]): string {
  const path = join(folder, `${name}.db`);
  copyFileSync(golden, path);
  expect(damage(path, ...statements)).toBeGreaterThan(0);
  return path;
}

test.for([
  "metadata = 'no JSON'",
  "tool_calls = '{'",
  "parts = '5'",
  "fields = '[]'",
  "exact = '{\"content\":5}'",
  "role = 'nobody'",
  "created_at = 'yesterday'",
  "is_error = 7",
  "step = 'third'",
])("a corrupt row is reported, skipped and never deleted: %s", async (change) => {
  const path = damagedCopy("row", `UPDATE messages SET ${change} WHERE session_id = 's' AND position = 6`);
  const reported: OffstageError[] = [];
  await using store = sqliteStore({ path, onError: (error) => reported.push(error) });
  expect(await store.session("s").getItems()).toHaveLength(39);
  expect(await store.session("s").getItems(40)).toHaveLength(39);
  expect(texts(await store.session("s").getItems(36))).toHaveLength(36);
  expect(reported.length).toBeGreaterThan(0);
  for (const error of reported) expect(error).toMatchObject({ code: "store-corrupt" });
  expect(reported[0]?.message).toMatch(
    /(row "s", \d+ of the table "messages"|message 6 of session "s") in SQLite file/,
  );
  await turn(store, "s", "after");
  expect(await store.session("s").getItems()).toHaveLength(41);
  const database = new DatabaseSync(path);
  const left = database.prepare("SELECT count(*) AS n FROM messages WHERE session_id = 's' AND position = 6").get();
  database.close();
  expect(left).toEqual({ n: 1 });
});

test("a message that is missing from a conversation is reported", async () => {
  const path = damagedCopy("missing", "DELETE FROM messages WHERE session_id = 's' AND position = 6");
  const reported: OffstageError[] = [];
  await using store = sqliteStore({ path, onError: (error) => reported.push(error) });
  expect(await store.session("s").getItems()).toHaveLength(39);
  expect(reported).toMatchObject([{ code: "store-corrupt" }]);
  expect(reported[0]?.message).toContain("it has 39 messages instead of 40");
  expect(await store.verify()).toMatchObject([{ sessionId: "s", problem: "should have 40 messages and has 39" }]);
});

test("a step that belongs to no run is reported if it cannot be read", async () => {
  const damaged =
    "UPDATE steps SET run_id = 'nobody', duration_ms = 'long' WHERE run_id = (SELECT min(run_id) FROM steps)";
  await using store = sqliteStore({ path: damagedCopy("step", damaged), onError: () => {} });
  const problems = (await store.verify()).map(({ problem }) => problem);
  expect(problems).toContainEqual(expect.stringContaining('of the table "steps"'));
});

test("a conversation whose rows are all gone is not silently empty", async () => {
  const path = damagedCopy("gone", "DELETE FROM messages WHERE session_id = 's'");
  const reported: OffstageError[] = [];
  await using store = sqliteStore({ path, onError: (error) => reported.push(error) });
  expect(await store.session("s").getItems()).toEqual([]);
  expect(reported).toMatchObject([{ code: "store-corrupt" }]);
  expect(await store.session("s").getItemCount()).toBe(40);
});

test("an unreadable run of a subagent is not overwritten", async () => {
  const path = join(folder, "inner.db");
  const reported: OffstageError[] = [];
  await using store = sqliteStore({ path, onError: (error) => reported.push(error) });
  const log = await open(store, "s", start("outer", "ask"));
  await (await log.child(start("inner", "do"))).step(step(1, [calling("c"), resultOf("c")]));
  expect(damage(path, "UPDATE runs SET started_at = '?' WHERE run_id = 'inner'")).toBe(1);
  const told = { code: "store-corrupt", message: expect.stringContaining('Run "inner" cannot be resumed') };
  await expect(log.child(start("inner", "do"))).rejects.toMatchObject(told);
  await log.abandon();
  const journal = store.session("s").journal;
  await expect(journal.reopen("inner", { historyLimit: 1, onBusy: "queue" })).rejects.toMatchObject(told);
  await expect(journal.open(start("inner", "again"))).rejects.toMatchObject(told);
  await expect(store.runs.journal("inner")).rejects.toMatchObject(told);
  expect(await store.runs.get("inner")).toBeUndefined();
  expect(reported).toMatchObject([{ code: "store-corrupt" }]);
  expect(damage(path, "UPDATE runs SET started_at = '?' WHERE run_id = 'inner' AND started_at = '?'")).toBe(1);
});

test.for([
  "status = 'nonsense'",
  "started_at = '?'",
  "totals = '[]'",
  "error = '5'",
  "notes = '{'",
  "input_count = 'x'",
])("runs beside an unreadable one are listed: %s", async (change) => {
  const path = damagedCopy("many", `UPDATE runs SET ${change} WHERE run_id = 'run-s-7'`);
  const reported: OffstageError[] = [];
  await using store = sqliteStore({ path, onError: (error) => reported.push(error) });
  const listed = (await store.runs.list()).map(({ runId }) => runId);
  expect(listed).toHaveLength(19);
  expect(listed).not.toContain("run-s-7");
  const pages: string[] = [];
  for (let before: string | undefined; ; ) {
    const page = await store.runs.list({ limit: 3, ...(before !== undefined && { before }) });
    if (page.length === 0) break;
    pages.push(...page.map(({ runId }) => runId));
    before = page.at(-1)?.cursor;
  }
  expect(pages).toEqual(listed);
  expect(await store.session("s").runs()).toHaveLength(19);
  expect(await store.sessions.list()).toHaveLength(2);
  await expect(store.session("s").query()).resolves.toBeDefined();
  await expect(store.numbers()).resolves.toBeDefined();
  expect(new Set(reported.map(({ code }) => code))).toEqual(new Set(["store-corrupt"]));
});

test("pages of runs do not end at a page of unreadable ones", async () => {
  const path = join(folder, "pages.db");
  await using store = sqliteStore({ path, onError: () => {} });
  for (let n = 0; n < 250; n++) await turn(store, "s", n);
  expect(damage(path, "UPDATE runs SET started_at = '?' WHERE number BETWEEN 100 AND 249")).toBe(150);
  expect(await store.runs.list({ limit: 50 })).toHaveLength(50);
  expect(await store.runs.list({ limit: 200 })).toHaveLength(100);
  expect(await store.runs.list()).toHaveLength(100);
});

test.for(["message_count = 'many'", "next_seq = 1.5", "created_at = '?'", "exact = '{'"])(
  "a session with an unreadable head is an error, and other sessions work: %s",
  async (change) => {
    const path = damagedCopy("head", `UPDATE sessions SET ${change} WHERE session_id = 's'`);
    const reported: OffstageError[] = [];
    await using store = sqliteStore({ path, onError: (error) => reported.push(error) });
    await expect(store.session("s").addItem(said("x"))).rejects.toMatchObject({ code: "store-corrupt" });
    await expect(open(store, "s", start("r", "x"))).rejects.toMatchObject({ code: "store-corrupt" });
    await expect(store.session("s").getItemCount()).rejects.toMatchObject({ code: "store-corrupt" });
    await expect(store.sessions.delete("s")).rejects.toMatchObject({ code: "store-corrupt" });
    expect(await store.session("other").getItemCount()).toBe(1);
    await turn(store, "other", 1);
    expect((await store.sessions.list()).map(({ sessionId }) => sessionId)).toEqual(["other"]);
    expect(reported).toMatchObject([{ code: "store-corrupt" }]);
    expect(await store.prune({ keepLast: 0 })).toEqual({ removedSessions: 1, busySessions: 0 });
    expect((await store.verify()).length).toBeGreaterThan(0);
  },
);

test("a table that was removed is an error, and is not created again empty", async () => {
  const path = join(folder, "table.db");
  copyFileSync(golden, path);
  damage(path, "DROP TABLE messages");
  await using store = sqliteStore({ path });
  await expect(store.session("s").getItems()).rejects.toMatchObject({ code: expect.stringMatching(/^store-/) });
  await expect(store.session("s").addItem(said("x"))).rejects.toMatchObject({ code: expect.stringMatching(/^store-/) });
});

type Verdict = "harmless" | "refused" | "reported" | "plain text differs" | "silently empty" | "foreign error";

const damagedBytes = fullOrFifth(1_000);

test(`each of ${damagedBytes} damaged bytes is refused, reported or harmless, or changes plain text; nothing is silently empty`, async () => {
  const bytes = readFileSync(golden);
  const whole = sqliteStore({ path: golden });
  const expected = await contents(whole);
  await whole.close();
  const found: Partial<Record<Verdict, number>> = {};
  const bad: string[] = [];
  const path = join(folder, "mutated.db");
  for (let n = 0; n < damagedBytes; n++) {
    const mutated = Buffer.from(bytes);
    const at = Math.floor((n * bytes.length) / damagedBytes);
    mutated[at] = (mutated[at] ?? 0) ^ (1 + Math.floor(Math.random() * 255));
    writeFileSync(path, mutated);
    const verdict = await judge(path, expected);
    found[verdict] = (found[verdict] ?? 0) + 1;
    if (verdict === "silently empty" || verdict === "foreign error") bad.push(`${at}: ${shown(mutated, at)}`);
    for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
  }
  process.stdout.write(`${damagedBytes} damaged bytes: ${JSON.stringify(found)}\n`);
  expect(bad).toEqual([]);
});

/** The bytes around a place, to find out what was damaged. */
function shown(bytes: Buffer, at: number): string {
  return bytes.toString("latin1", at - 40, at + 40).replace(/[^ -~]/g, ".");
}

async function judge(path: string, expected: string): Promise<Verdict> {
  let reports = 0;
  const store = sqliteStore({ path, onError: () => reports++ });
  try {
    const read = await contents(store);
    if (read === expected) return "harmless";
    // A run whose messages are missing says so itself.
    if (reports > 0 || read.includes('"isIncomplete":true')) return "reported";
    // The same messages, runs, steps and sessions, of which one differs.
    return countOf(read) === countOf(expected) ? "plain text differs" : "silently empty";
  } catch (error) {
    return isOffstageError(error) ? "refused" : "foreign error";
  } finally {
    await store.close();
  }
}

/** How many messages, runs, steps and sessions there are. */
function countOf(read: string): string {
  type Part = { readonly input?: unknown[]; readonly steps?: { readonly messages: unknown[] }[] };
  const [items, runs, sessions] = JSON.parse(read) as [unknown[][], Part[], unknown[]];
  const ofRun = (run: Part | null) => [run?.input?.length, run?.steps?.map(({ messages }) => messages.length)];
  return JSON.stringify([items.map(({ length }) => length), runs.map(ofRun), sessions.length]);
}

test("a full disk is an error, nothing of the write is kept, and earlier data stays", async () => {
  const path = join(folder, "full.db");
  const store = sqliteStore({ path, maxBytes: 400 * 1024 });
  await store.session("a").addItem(said("small"));
  await expect(store.session("a").addItem(said("x".repeat(800_000)))).rejects.toMatchObject({ code: "store-full" });
  expect(await store.session("a").getItemCount()).toBe(1);
  await store.session("a").addItem(said("small again"));
  expect(await store.session("a").getItemCount()).toBe(2);
  expect(await store.verify()).toEqual([]);
  await store.close();
});

test("a file that another process keeps locked is an error after the timeout", async () => {
  const path = join(folder, "locked.db");
  const store = sqliteStore({ path, timeoutMs: 50 });
  await store.session("a").addItem(said("1"));
  const other = new DatabaseSync(path);
  other.exec("BEGIN IMMEDIATE");
  await expect(store.session("a").addItem(said("2"))).rejects.toMatchObject({ code: "store-locked" });
  expect(await store.session("a").getItemCount()).toBe(1);
  other.exec("ROLLBACK");
  other.close();
  await store.session("a").addItem(said("2"));
  expect(await store.session("a").getItemCount()).toBe(2);
  await store.close();
});

test("a read-only file or folder is an error, and stays unchanged", () => {
  const place = join(folder, "locked-folder");
  mkdirSync(place);
  const path = join(place, "read-only.db");
  copyFileSync(golden, path);
  chmodSync(path, 0o444);
  chmodSync(place, 0o555);
  chmodSync(folder, 0o755);
  const before = readFileSync(path);
  const store = new URL("../../src/sessions/open-store.ts", import.meta.url).href;
  // Root may write anywhere, so the process becomes "nobody" once all sources are loaded, which "nobody" may not be able to read.
  const code = (name: string) => `const { sqliteStore } = await import(${JSON.stringify(store)});
    await sqliteStore({ path: ":memory:" }).sessions.list();
    if (process.getuid?.() === 0) {
      process.setgroups([]);
      process.setgid(65_534);
      process.setuid(65_534);
    }
    await sqliteStore({ path: ${JSON.stringify(join(place, name))} }).session("s").addItem({ role: "user", content: "x" })
      .then(() => console.log("written"), (error) => console.log(error.code, error.message));`;
  const run = (name: string): string =>
    spawnSync(process.execPath, ["--input-type=module", "-e", code(name)], { encoding: "utf8" }).stdout;
  expect(run("read-only.db")).toMatch(/^store-read-only .*read-only\.db/);
  expect(run("new.db")).toMatch(/^store-read-only .*new\.db/);
  expect(readFileSync(path)).toEqual(before);
});
