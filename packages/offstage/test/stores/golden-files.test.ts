// Files that earlier versions wrote: one per schema version, never made again once that version is released.
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, test } from "vitest";
import { PersistentSession, sqliteStore } from "../../src/index.ts";
import { schemaVersion } from "../../src/sessions/head/connection.ts";
import { answered, ended, resultOf, said, step, texts } from "../../src/testing/store-claims/claim.ts";
import { goldenAgent, goldenFolder } from "./golden/make-golden.ts";

const folder = mkdtempSync(join(tmpdir(), "offstage-golden-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let copies = 0;
function copyOf(name: string): string {
  const path = join(folder, `${copies++}.db`);
  copyFileSync(join(goldenFolder, name), path);
  return path;
}

/** The columns of each table and index, without comments and order. */
function schemaIn(path: string): unknown {
  const database = new DatabaseSync(path, { readOnly: true });
  const found = database
    .prepare(
      'SELECT m.name, c.name AS col, c.type, c."notnull", c.pk FROM sqlite_master m, pragma_table_info(m.name) c',
    )
    .all();
  const indexes = database
    .prepare("SELECT m.name, i.seqno, i.name AS col FROM sqlite_master m, pragma_index_info(m.name) i")
    .all();
  database.close();
  return [...found, ...indexes].map((row) => Object.values(row).join(" ")).sort();
}

test("the golden file of the current version has the schema that a new file gets", async () => {
  const path = join(folder, "new.db");
  const store = sqliteStore({ path });
  await store.ready();
  await store.close();
  expect(schemaIn(copyOf(`v${schemaVersion}.sqlite`))).toEqual(schemaIn(path));
});

test("a file of a development version is refused as foreign, and stays byte-identical", async () => {
  const path = copyOf("development.sqlite");
  const before = readFileSync(path);
  await using store = sqliteStore({ path });
  const uses = [store.session("golden").getItems(), store.session("golden").addItem(said("x")), store.verify()];
  for (const use of uses) {
    await expect(use).rejects.toMatchObject({ code: "store-foreign" });
    await expect(use).rejects.toThrow("was written by a development version before 0.1.0");
  }
  await expect(PersistentSession.persistent("golden", { path })).rejects.toMatchObject({ code: "store-foreign" });
  expect(readFileSync(path)).toEqual(before);
  for (const suffix of ["-wal", "-shm"]) expect(existsSync(path + suffix)).toBe(false);
});

describe("a file of schema version 1", () => {
  test("is read as it was written", async () => {
    await using store = sqliteStore({ path: copyOf("v1.sqlite") });
    const session = store.session("golden");
    expect(texts(await session.getItems())).toEqual(["Hello\0 \ud800", "Good day.", "Pay, please."]);
    expect(await store.sessions.list()).toMatchObject([
      { sessionId: "cut off", messageCount: 1, lastStatus: "interrupted" },
      { sessionId: "golden", title: "A golden talk", metadata: { topic: "gold" }, messageCount: 3, runCount: 2 },
    ]);
    const [waiting, greeted] = await session.runs();
    expect([waiting?.status, greeted?.status]).toEqual(["waiting", "completed"]);
    const run = await store.runs.get(waiting?.runId ?? "");
    expect(run?.steps.map(({ messages }) => messages.map(({ role }) => role))).toEqual([["assistant", "tool"]]);
    expect(run?.children).toMatchObject([{ agent: "clerk", status: "waiting" }]);
    expect(run?.approvals).toMatchObject([{ toolName: "pay" }]);
    expect(JSON.stringify(await store.runs.value(run?.runId ?? "", "look"))).toMatch(/^{"all":"x{4000}"}$/);
    const input = await store.runs.input(run?.runId ?? "", 1);
    expect(input?.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"]);
    expect(await store.runs.annotations(greeted?.runId ?? "")).toMatchObject([{ label: "good", value: 5 }]);
    expect(texts(await store.memory("golden").getItems())).toEqual(["Remember gold."]);
    expect((await store.spans.list({ runId: run?.runId ?? "" })).map(({ kind }) => kind)).toContain("tool");
    const times = { startTime: 1767225600000.125, endTime: 1767225600001.25, duration: 1.125 };
    expect(await store.spans.list({ traceId: "f".repeat(32) })).toMatchObject([{ name: "loose", ...times }]);
    expect((await store.query({ text: "good day" })).all().length).toBe(1);
    expect(await store.verify()).toEqual([]);
  });

  test("is opened for reading without a change", async () => {
    const path = copyOf("v1.sqlite");
    const before = readFileSync(path);
    await using store = sqliteStore({ path, readOnly: true });
    expect(await store.session("golden").getItemCount()).toBe(3);
    expect(readFileSync(path)).toEqual(before);
  });

  test("can be continued: the waiting call is approved, and pays once", async () => {
    await using store = sqliteStore({ path: copyOf("v1.sqlite") });
    const session = store.session("golden");
    const { agent, paid } = goldenAgent();
    const [waiting] = await session.runs({ status: "waiting" });
    const run = await store.runs.get(waiting?.runId ?? "");
    const { output } = await agent.resume(run?.runId ?? "", { store, approve: run?.approvals ?? [] });
    expect([output, paid]).toEqual(["All is paid.", ["one"]]);
    expect((await agent.run("Hello again", { session })).output).toBe("Good day.");
    expect(texts(await session.getItems()).slice(2)).toEqual([
      "Pay, please.",
      "All is paid.",
      "Hello again",
      "Good day.",
    ]);
    expect(await store.verify()).toEqual([]);
  });

  test("can be continued: the run that was cut off knows the result that it has", async () => {
    await using store = sqliteStore({ path: copyOf("v1.sqlite") });
    const session = store.session("cut off");
    const log = await session.journal.reopen("cut-off", { historyLimit: 10, onBusy: "reject" });
    expect(log.recorded?.openStep).toMatchObject({ step: 1, results: [{ tool_call_id: "a" }], pending: [{ id: "b" }] });
    const { message, results = [] } = log.recorded?.openStep ?? {};
    await log.step(step(1, [message as never, ...results, resultOf("b")]));
    await log.end(ended("", { answer: [answered("done")], lastStep: step(2, [answered("done")]) }));
    expect(texts(await session.getItems())).toEqual(["Go on", "done"]);
    expect((await store.runs.get("cut-off"))?.steps).toHaveLength(2);
    expect(await store.verify()).toEqual([]);
  });
});
