import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isOffstageError, type OffstageError } from "../../src/errors.ts";
import { Agent, tool } from "../../src/index.ts";
import { memoryStore, sqliteStore } from "../../src/sessions/open-store.ts";
import { PersistentSession } from "../../src/sessions/persistent-session.ts";
import { type Store, storeDriver } from "../../src/sessions/store.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { calling, open, resultOf, said, start, step, turn } from "../../src/testing/store-claims/claim.ts";

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
  cpSync(golden, path);
  const database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode = DELETE; PRAGMA user_version = 99");
  database.close();
  const before = readFileSync(path);
  await expect(sqliteStore({ path }).session("s").getItems()).rejects.toMatchObject({ code: "schema-newer" });
  await expect(sqliteStore({ path }).session("s").addItem(said("x"))).rejects.toMatchObject({ code: "schema-newer" });
  expect(readFileSync(path)).toEqual(before);
});

test("a corrupt row is reported, skipped and never deleted", async () => {
  const path = join(folder, "row.db");
  cpSync(golden, path);
  const database = new DatabaseSync(path);
  database.exec("UPDATE offstage SET value = substr(value, 1, 9) WHERE list = 'm//s' AND key = '15'");
  const reported: OffstageError[] = [];
  const store = sqliteStore({ path, onError: (error) => reported.push(error) });
  expect(await store.session("s").getItems()).toHaveLength(39);
  expect(await store.session("s").getItems(40)).toHaveLength(39);
  expect(reported[0]).toMatchObject({ code: "store-corrupt" });
  expect(reported[0]?.message).toMatch(/message 5 of session "s"/);
  await turn(store, "s", "after");
  expect(await store.session("s").getItems()).toHaveLength(41);
  await store.close();
  expect(database.prepare("SELECT count(*) AS n FROM offstage WHERE key = '15' AND list = 'm//s'").get()).toEqual({
    n: 1,
  });
  database.close();
});

describe("resuming a run", () => {
  // Runs an agent that charges, directly or through a subagent. Its model then fails, and would charge again.
  async function cutOff(name: string, isBelow: boolean, isDone = false) {
    const path = join(folder, `${name}.db`);
    const store = sqliteStore({ path, onError: () => {} });
    const charges: string[] = [];
    const charge = tool({ name: "charge", execute: () => `charge ${charges.push("one")}` });
    const below = scriptedModel([{ toolCalls: [{ name: "charge" }] }, "Charged."]);
    const clerk = new Agent({ name: "clerk", model: below, tools: [charge] });
    const call = { toolCalls: [{ name: isBelow ? "clerk" : "charge", input: isBelow ? { prompt: "Charge." } : {} }] };
    const agent = new Agent({
      name: "shop",
      model: scriptedModel(({ index }) => {
        if (index === 1) return new Error("cut off");
        return index === 0 || (index === 2 && !isDone) ? call : "Done.";
      }),
      tools: [isBelow ? clerk.asTool() : charge],
      session: store.session("s"),
    });
    await expect(agent.run("charge me")).rejects.toThrow("cut off");
    const [run] = await store.runs.list();
    const damage = (sql: string) => {
      const database = new DatabaseSync(path);
      const { changes } = database.prepare(`UPDATE offstage SET ${sql}`).run();
      database.close();
      expect(changes).toBeGreaterThan(0);
    };
    return { store, charges, damage, resume: () => agent.resume(run?.runId ?? "", { store }) };
  }

  const damages: readonly (readonly [string, string, boolean])[] = [
    ["a step", "value = value || ' ' WHERE key LIKE '%.s11'", false],
    ["calls", "value = replace(value, 'charge', 'chargf') WHERE key LIKE '%.i11'", false],
    ["the key of a step", "key = replace(key, 's11', 'd11') WHERE key LIKE '%.s11'", false],
    ["the question", "value = replace(value, 'charge', 'chargf') WHERE list = 'm//s'", false],
    [
      "the run of a subagent",
      "value = replace(value, 'clerk', 'clerl') WHERE list = 'j//s' AND value LIKE '%clerk%'",
      true,
    ],
    [
      "the place of a subagent's run",
      "value = replace(value, '1', '9') WHERE list LIKE 'r//%' AND value LIKE '%,1]'",
      true,
    ],
    ["a step of a subagent", "value = value || ' ' WHERE key LIKE '11.s11'", true],
  ];
  test.for(damages)("is refused if %s cannot be read, because tools might run twice", async ([name, sql, isBelow]) => {
    const { store, charges, damage, resume } = await cutOff(name, isBelow);
    damage(sql);
    await expect(resume()).rejects.toMatchObject({
      code: "store-corrupt",
      message: expect.stringContaining("resumed"),
    });
    expect(charges).toHaveLength(1);
    await store.close();
  });

  test("works if only its spans cannot be read", async () => {
    const { store, charges, damage, resume } = await cutOff("spans", false, true);
    damage("value = replace(value, 'shop', 'shoq') WHERE key LIKE '10.t%'");
    expect((await resume()).output).toBe("Done.");
    expect(charges).toHaveLength(1);
    await store.close();
  });
});

test("an unreadable place of a subagent's run is not overwritten", async () => {
  const reported: OffstageError[] = [];
  const store = memoryStore({ onError: (error) => reported.push(error) });
  const driver = store[storeDriver];
  const place = { list: "r//inner", key: "at" };
  const log = await open(store, "s", start("outer", "ask"));
  await (await log.child(start("inner", "do"))).step(step(1, [calling("c"), resultOf("c")]));
  await driver.commit({ label: "run.child", checks: [], writes: [{ ...place, value: '["s",' }] });
  await expect(log.child(start("inner", "do"))).rejects.toMatchObject({
    code: "store-corrupt",
    message: expect.stringContaining('the place of run "inner"'),
  });
  expect(await driver.get([place])).toEqual([{ key: "at", value: '["s",' }]);
  await log.abandon();
  const journal = store.session("s").journal;
  await expect(journal.reopen("inner", { historyLimit: 1, onBusy: "queue" })).rejects.toThrow(
    'the place of run "inner"',
  );
  await expect(store.runs.journal("inner")).rejects.toThrow('the place of run "inner"');
  expect(await store.runs.get("inner")).toBeUndefined();
  expect(reported).toMatchObject([{ code: "store-corrupt" }]);
});

test("runs after an unreadable one are listed", async () => {
  const path = join(folder, "many.db");
  const store = sqliteStore({ path, onError: () => {} });
  for (let n = 0; n < 130; n++) await turn(store, "s", n);
  const database = new DatabaseSync(path);
  database.exec("UPDATE offstage SET value = replace(value, 'run-s-120', 'run-s-12x') WHERE list = 'j//s'");
  database.close();
  expect(await store.runs.list()).toHaveLength(129);
  await store.close();
});

test("a session with an unreadable head is an error, and other sessions work", async () => {
  const path = join(folder, "head.db");
  cpSync(golden, path);
  const database = new DatabaseSync(path);
  database.exec("UPDATE offstage SET value = '{}', sum = 0 WHERE list = 'h//s'");
  database.close();
  const store = sqliteStore({ path, onError: () => {} });
  await expect(store.session("s").addItem(said("x"))).rejects.toMatchObject({ code: "store-corrupt" });
  expect(await store.session("other").getItemCount()).toBe(1);
  expect((await store.sessions.list()).map(({ sessionId }) => sessionId)).toEqual(["other"]);
  await store.close();
});

test("each of 1,000 damaged bytes is detected or harmless, and nothing is silently empty", async () => {
  const bytes = readFileSync(golden);
  const whole = sqliteStore({ path: golden });
  const expected = await contents(whole);
  await whole.close();
  const found = { harmless: 0, refused: 0, reported: 0, silent: 0 };
  const path = join(folder, "mutated.db");
  for (let n = 0; n < 1_000; n++) {
    const mutated = Buffer.from(bytes);
    const at = Math.floor((n * bytes.length) / 1_000);
    mutated[at] = (mutated[at] ?? 0) ^ (1 + Math.floor(Math.random() * 255));
    writeFileSync(path, mutated);
    found[await judge(path, expected)]++;
    for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
  }
  expect(found.silent).toBe(0);
  process.stdout.write(`1,000 damaged bytes: ${JSON.stringify(found)}\n`);
});

async function judge(path: string, expected: string): Promise<"harmless" | "refused" | "reported" | "silent"> {
  let reports = 0;
  const store = sqliteStore({ path, onError: () => reports++ });
  try {
    const read = await contents(store);
    if (read === expected) return "harmless";
    return reports > 0 ? "reported" : "silent";
  } catch (error) {
    return isOffstageError(error) ? "refused" : "silent";
  } finally {
    await store.close();
  }
}

test("a full disk is an error, nothing of the write is kept, and earlier data stays", async () => {
  const path = join(folder, "full.db");
  const store = sqliteStore({ path, maxBytes: 100 * 1024 });
  await store.session("a").addItem(said("small"));
  await expect(store.session("a").addItem(said("x".repeat(200_000)))).rejects.toMatchObject({ code: "store-full" });
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
  cpSync(golden, path);
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
