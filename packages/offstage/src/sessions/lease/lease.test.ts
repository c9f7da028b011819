import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { elsewhere, gone, headRow, held, pretend, reused } from "../../../test/support/held-sessions.ts";
import { OffstageError } from "../../errors.ts";
import { ended, open, said, start, step, texts } from "../../testing/store-claims/claim.ts";
import { memoryDriver } from "../drivers/memory/memory.ts";
import { sqliteDriver } from "../drivers/sqlite/sqlite.ts";
import { SessionBusyError, SessionConflictError } from "../ports/session.ts";
import type { Commit } from "../ports/store-driver.ts";
import { createStore } from "../store.ts";

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test.for([
  ["on this machine that has ended", gone, 0],
  ["on this machine whose process id was reused", reused, 0],
  ["on another machine that has not renewed its lease for more than 8 s", elsewhere, 9_000],
] as const)(
  "a session held by a process %s is taken over immediately, and late writes are refused",
  async ([, change, ago]) => {
    const { driver, log } = await held();
    await pretend(driver, change, ago);
    const other = createStore(driver);
    expect((await other.runs.get("r1"))?.status).toBe("interrupted");
    const second = await open(other, "a", start("r2", "two", { onBusy: "reject" }));
    await expect(log.step(step(1, []))).rejects.toThrow(SessionConflictError);
    await expect(log.end(ended("late"))).rejects.toThrow(SessionConflictError);
    await log.abandon();
    await second.end(ended("done"));
    expect(texts(await other.session("a").getItems())).toEqual(["one", "two", "done"]);
    expect(await other.verify()).toEqual([]);
  },
);

test("a late write is refused in a session that was deleted and created again", async () => {
  const { driver, log } = await held();
  const child = await log.child(start("child", "sub"));
  await pretend(driver, elsewhere, 9_000);
  const other = createStore(driver);
  expect(await other.sessions.delete("a")).toBe(true);
  // The new session has the same fence and run number as the deleted one.
  const fresh = await open(other, "a", start("r2", "two"));
  for (const late of [log, child]) {
    await expect(late.step(step(1, []))).rejects.toThrow(SessionConflictError);
    await expect(late.end(ended("late"))).rejects.toThrow(SessionConflictError);
    await late.abandon();
  }
  const below = await fresh.child(start("below", "sub"));
  await below.end(ended(""));
  await fresh.end(ended("done"));
  expect(texts(await other.session("a").getItems())).toEqual(["two", "done"]);
  expect((await other.runs.list()).map(({ runId, status }) => [runId, status])).toEqual([["r2", "completed"]]);
  expect(await other.verify()).toEqual([]);
});

test("a holder on another machine that renews its lease keeps the session", async () => {
  const { driver } = await held();
  await pretend(driver, elsewhere, 5_000);
  const other = createStore(driver);
  await expect(open(other, "a", start("r2", "two", { onBusy: "reject" }))).rejects.toThrow(SessionBusyError);
  await expect(other.sessions.delete("a")).rejects.toThrow(SessionBusyError);
});

test("a first write whose reply was lost does not block other processes", {
  timeout: 20_000,
}, async () => {
  const driver = memoryDriver();
  let isLost = true;
  const commit = async (given: Commit) => {
    const committed = await driver.commit(given);
    if (!isLost || given.label !== "run.begin") return committed;
    throw new OffstageError("store-connection", "the reply was lost");
  };
  const store = createStore({ ...driver, commit });
  await expect(open(store, "a", start("r1", "one"))).rejects.toMatchObject({ code: "store-connection" });
  isLost = false;
  await sleep(50);
  const other = createStore(driver);
  const next = await open(other, "a", start("r2", "two", { onBusy: "reject" }));
  await next.end(ended("done"));
  expect((await other.runs.get("r1"))?.status).toBe("interrupted");
  expect(await other.verify()).toEqual([]);
});

test("a waiting run that is aborted rejects with the reason of the signal", async () => {
  const { driver } = await held();
  const reason = new Error("enough");
  const controller = new AbortController();
  const waiting = open(createStore(driver), "a", start("r2", "two", { signal: controller.signal }));
  await sleep(10);
  controller.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  expect(texts(await createStore(driver).session("a").getItems())).toEqual(["one"]);
});

test.for([
  ["on a session that is free", false, false],
  ["queued after another run", true, false],
  ["queued after another run, with a conversation that changed", true, true],
] as const)("a run that is aborted while it opens either writes nothing or opens: %s", async (each) => {
  const [, isBehind, isChanged] = each;
  const outcomes: string[] = [];
  for (let ticks = 0; ticks < 60; ticks++) {
    await using store = createStore(sqliteDriver({ path: ":memory:" }));
    await store.session("a").addItem(said("zero"));
    const first = isBehind ? await open(store, "a", start("r1", "one")) : undefined;
    const controller = new AbortController();
    const opening = open(store, "a", start("r2", "two", { signal: controller.signal }));
    const settling = Promise.allSettled([opening]);
    if (isChanged) await store.session("a").popItem();
    const ending = first?.end(ended("done"));
    for (let tick = 0; tick < ticks; tick++) await undefined;
    controller.abort(new Error("enough"));
    const [opened] = await settling;
    await ending;
    outcomes.push(opened.status);
    const runIds = (await store.runs.list()).map(({ runId }) => runId);
    expect(runIds.includes("r2")).toBe(opened.status === "fulfilled");
    if (opened.status === "fulfilled") await opened.value.abandon();
    else expect(opened.reason).toMatchObject({ message: "enough" });
    const third = await open(store, "a", start("r3", "three", { onBusy: "reject" }));
    await third.end(ended("done"));
  }
  const refused = outcomes.indexOf("fulfilled");
  expect(refused).toBeGreaterThan(0);
  expect(outcomes.slice(refused)).not.toContain("rejected");
});

test("a long run renews its lease", async () => {
  const { driver, log } = await held();
  const seen = async (): Promise<number> => (await headRow(driver)).lease_seen ?? 0;
  const before = await seen();
  await sleep(2_600);
  expect(await seen()).toBeGreaterThan(before + 1_500);
  await log.abandon();
});

test("a run that stops waiting removes its mark", async () => {
  const { driver, log } = await held();
  const controller = new AbortController();
  const waiting = open(createStore(driver), "a", start("r2", "two", { signal: controller.signal }));
  waiting.catch(() => {});
  await sleep(1_300);
  expect((await headRow(driver)).waiting_holder).toEqual(expect.any(String));
  controller.abort();
  await expect(waiting).rejects.toThrow();
  await log.abandon();
  expect(await headRow(driver)).toMatchObject({ waiting_holder: null, waiting_seen: null });
});

test.runIf(process.platform === "linux")(
  "a session held by a worker thread that was terminated is taken over immediately",
  async () => {
    const path = join(mkdtempSync(join(tmpdir(), "offstage-thread-")), "a.db");
    onTestFinished(() => rmSync(dirname(path), { recursive: true, force: true }));
    const [stores, claims] = ["../open-store.ts", "../../testing/store-claims/claim.ts"].map(
      (file) => new URL(file, import.meta.url).href,
    );
    const code = `(async () => {
    const { sqliteStore } = await import(${JSON.stringify(stores)});
    const { open, start } = await import(${JSON.stringify(claims)});
    await open(sqliteStore({ path: ${JSON.stringify(path)} }), "a", start("r1", "one"));
    require("node:worker_threads").parentPort.postMessage("held");
    setInterval(() => {}, 1_000);
  })()`;
    const worker = new Worker(code, { eval: true, execArgv: [] });
    await once(worker, "message");
    await using store = createStore(sqliteDriver({ path }));
    await expect(open(store, "a", start("r2", "two", { onBusy: "reject" }))).rejects.toThrow(SessionBusyError);
    await worker.terminate();
    const log = await open(store, "a", start("r2", "two", { onBusy: "reject" }));
    await log.end(ended("done"));
    expect(texts(await store.session("a").getItems())).toEqual(["one", "two", "done"]);
  },
);
