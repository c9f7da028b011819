// offstage/dbos on a real Postgres, with workers that are real processes and are killed.
import { type ChildProcess, fork, spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { DbosEngine, DbosEngineOptions } from "../../src/doors/peers/dbos.ts";
import type { ServedEvent } from "../../src/doors/serve.ts";
import { type PostgresServer, startPostgres } from "../servers/postgres-server.ts";
import { installWithOffstage } from "../support/interop.ts";

const folder = await installWithOffstage("dbos");
const inFolder = (path: string): string => pathToFileURL(join(folder, "node_modules/offstage/dist", path)).href;
const { Agent, postgresStore, memoryStore } = (await import(
  inFolder("index.js")
)) as typeof import("../../src/index.ts");
const { dbosEngine } = (await import(
  inFolder("doors/peers/dbos.js")
)) as typeof import("../../src/doors/peers/dbos.ts");
const { serve } = (await import(inFolder("doors/serve.js"))) as typeof import("../../src/doors/serve.ts");
const { scriptedModel } = (await import(inFolder("testing/index.js"))) as typeof import("../../src/testing/index.ts");

// The client only needs the names.
const agents = ["desk", "quick", "careful", "teller", "poison", "flaky"].map(
  (name) => new Agent({ name, model: scriptedModel([]) }),
);

let server: PostgresServer;
let store: ReturnType<typeof postgresStore>;
let engine: DbosEngine;
let effects: string;
const workers = new Set<ChildProcess>();

beforeEach(async () => {
  server = (await startPostgres()) as PostgresServer;
  effects = join(mkdtempSync(join(tmpdir(), "offstage-dbos-")), "effects");
  writeFileSync(effects, "");
  store = postgresStore({ url: server.url });
  engine = dbosEngine({ store, agents });
});

afterEach(async () => {
  await Promise.all([...workers].map(kill));
  await engine.close();
  await store.close();
  await server.stop();
});

interface WorkerOptions {
  readonly latencyMs?: number;
  readonly engine?: Partial<DbosEngineOptions>;
}

async function startWorker(options: WorkerOptions = {}): Promise<ChildProcess> {
  const worker = fork(join(folder, "worker.js"), [JSON.stringify({ url: server.url, effects, ...options })], {
    execArgv: ["--no-deprecation"],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  workers.add(worker);
  worker.once("exit", () => workers.delete(worker));
  await new Promise((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("exit", (code) => reject(new Error(`The worker ended with ${code} before it started.`)));
  });
  return worker;
}

async function kill(worker: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => worker.once("exit", resolve));
  worker.kill("SIGKILL");
  await ended;
}

const effectLines = (): string[] =>
  readFileSync(effects, "utf8")
    .split("\n")
    .filter((line) => line !== "");

async function submit(agent: string, count: number): Promise<string[]> {
  const numbers = Array.from({ length: count }, (_, number) => number);
  const submitted = await Promise.all(
    numbers.map((number) => engine.submit(agent, { input: `job ${number}`, session: `session ${number}` })),
  );
  return submitted.map(({ runId }) => runId);
}

async function until(check: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await check())) await sleep(20);
}

/** Waits for all runs, and checks that each was finished and had each of its three effects once. */
async function expectFinished(runIds: readonly string[], what: string): Promise<void> {
  const results = await Promise.all(runIds.map((runId) => engine.result(runId)));
  const finished = results.filter(({ status }) => status === "completed").length;
  const lines = effectLines();
  process.stdout.write(`N7, ${what}: ${finished} of ${runIds.length} runs finished, ${lines.length} effects\n`);
  expect(finished).toBe(runIds.length);
  expect(new Set(lines).size).toBe(lines.length);
  expect(lines).toHaveLength(3 * runIds.length);
}

describe("the runs of a killed worker are finished by others, and no effect is repeated", () => {
  test("100 runs on two workers, one of them killed", async () => {
    const [first] = await Promise.all([startWorker(), startWorker()]);
    const runs = await submit("desk", 100);
    await until(() => effectLines().length > 60);
    await kill(first as ChildProcess);
    await expectFinished(runs, "one of two workers killed");
  });

  test("100 runs on two workers, Postgres restarted", async () => {
    await Promise.all([startWorker(), startWorker()]);
    const runs = await submit("desk", 100);
    await until(() => effectLines().length > 60);
    await server.restart();
    await expectFinished(runs, "Postgres restarted");
  });

  test("100 runs on two workers, both killed and one started again", async () => {
    const both = await Promise.all([startWorker(), startWorker()]);
    const runs = await submit("desk", 100);
    await until(() => effectLines().length > 60);
    await Promise.all(both.map(kill));
    await startWorker();
    await expectFinished(runs, "both workers killed, one started again");
  });
});

test("a tool that was cut off is not repeated unless it says that it may be: the model is told instead", async () => {
  const [first] = await Promise.all([startWorker({ latencyMs: 5 }), startWorker({ latencyMs: 5 })]);
  const runs = await submit("careful", 100);
  await until(() => effectLines().length > 60);
  await kill(first as ChildProcess);
  await Promise.all(runs.map((runId) => engine.result(runId)));
  const cutOff = (await store.query({ role: "tool", isError: true })).all();
  const lines = effectLines();
  expect(new Set(lines).size).toBe(lines.length);
  expect(lines.length).toBeGreaterThanOrEqual(300 - cutOff.length);
  expect(lines.length).toBeLessThanOrEqual(300);
});

test("the runs of one session happen one after another, in the order in which they were submitted", async () => {
  await Promise.all([startWorker(), startWorker()]);
  const ids: string[] = [];
  for (let turn = 0; turn < 5; turn++) {
    for (const session of ["anna", "bert"])
      ids.push((await engine.submit("desk", { input: `turn ${turn}`, session })).runId);
  }
  await Promise.all(ids.map((runId) => engine.result(runId)));
  for (const session of ["anna", "bert"]) {
    const said = (await store.session(session).getItems()).map(({ role, content }) => `${role}: ${content}`);
    expect(said).toEqual([0, 1, 2, 3, 4].flatMap((turn) => [`user: turn ${turn}`, "assistant: done 3"]));
  }
});

test("a run that kills its workers ends as failed with a clear reason, and other runs go on", async () => {
  const options = { engine: { maxLostWorkers: 3 } };
  await startWorker(options);
  const { runId } = await engine.submit("poison", { input: "Light it." });
  const { runId: other } = await engine.submit("desk", { input: "Hello" });
  const respawn = setInterval(() => {
    if (workers.size === 0) void startWorker(options).catch(() => {});
  }, 50);
  try {
    const failure = await engine.result(runId).catch((error: Error) => error.message);
    const [, deaths] = /(\d+) workers died while they worked on run/.exec(String(failure)) ?? [];
    // More than allowed only if the other run was lost as often.
    expect(Number(deaths)).toBeGreaterThan(3);
    expect(effectLines().filter((line) => line.endsWith("bomb"))).toHaveLength(Number(deaths));
    expect((await engine.result(other)).status).toBe("completed");
  } finally {
    clearInterval(respawn);
  }
  expect(await store.runs.get(runId)).toMatchObject({ status: "failed", reason: "worker-lost" });
});

test("a run that waits is decided about from another process, and finished by another worker", async () => {
  const worker = await startWorker();
  const { runId } = await engine.submit("teller", { input: "Pay." });
  const waiting = await engine.result(runId);
  expect(waiting.status).toBe("waiting");
  await kill(worker);
  const [approval] = waiting.approvals;
  await expect(engine.decide(runId, { approve: ["nonsense"] })).rejects.toThrow(/does not wait for call "nonsense"/);
  await engine.decide(runId, { approve: [approval?.toolCallId as string] });
  await startWorker();
  expect((await engine.result(runId)).status).toBe("completed");
  expect(effectLines()).toEqual([`${runId} 0`]);
  await expect(engine.decide(runId, { approve: ["nonsense"] })).rejects.toMatchObject({ code: "run-not-resumable" });
});

test("a run whose model is down is resumed later", async () => {
  await startWorker();
  const { runId } = await engine.submit("flaky", { input: "Hello" });
  const result = await engine.result(runId);
  expect(result).toMatchObject({ status: "completed", text: "back again" });
  expect((await store.session(result.sessionId).getItems()).map(({ content }) => content)).toEqual([
    "Hello",
    "back again",
  ]);
});

test("a run that fails too often ends as failed", async () => {
  await startWorker({ engine: { maxRetries: 1 } });
  const { runId } = await engine.submit("flaky", { input: "Hello" });
  await expect(engine.result(runId)).rejects.toThrow(/the model is down/);
});

test("a worker that is closed finishes its runs, or hands them over", async () => {
  const worker = await startWorker({ latencyMs: 300 });
  const runs = await submit("desk", 5);
  await until(() => effectLines().length >= 5);
  const ended = new Promise((resolve) => worker.once("exit", resolve));
  worker.send({ close: { timeoutMs: 100 } });
  await ended;
  await startWorker();
  await expectFinished(runs, "worker closed in mid-run");
});

test("the events of a run are read in any process, from its record", async () => {
  await startWorker();
  const { runId } = await engine.submit("desk", { input: "Hello" });
  const types: string[] = [];
  for await (const event of engine.events(runId)) types.push(event.type);
  expect(types.filter((type) => type === "tool-end")).toHaveLength(3);
  expect([types[0], types.at(-1)]).toEqual(["run-start", "run-end"]);
});

test("a message that is said to a run on a worker joins it", async () => {
  await startWorker({ latencyMs: 400 });
  const { runId } = await engine.submit("desk", { input: "Hello", session: "anna" });
  await until(() => effectLines().length > 0);
  const sent = await store.session("anna").say("And one more thing.");
  expect(await sent.joined).toBe("run");
  await engine.result(runId);
  const said = (await store.session("anna").getItems()).map(({ role }) => role);
  expect(said).toEqual(["user", "user", "assistant"]);
});

test("a server hands its requests to workers, and streams from the record", async () => {
  await startWorker();
  const teller = agents.find(({ name }) => name === "teller") as (typeof agents)[number];
  const chat = serve({ agent: teller, engine, store, protocol: "events", authorize: () => ({ session: "anna" }) });
  const post = async (body: object): Promise<ServedEvent[]> => {
    const response = await chat(
      new Request("http://localhost/", { method: "POST", body: JSON.stringify(body), headers }),
    );
    return [...(await response.text()).matchAll(/^data: (.+)$/gm)].map(([, data = ""]) => JSON.parse(data));
  };
  const headers = { "content-type": "application/json" };
  const asked = await post({ id: "anna", message: "Pay." });
  expect(asked.map(({ type }) => type)).toEqual(["run-start", "step-start", "approval-request", "run-end"]);
  const { toolCallId } = asked[2] as { toolCallId: string };
  const paid = await post({ id: "anna", approve: [toolCallId] });
  expect(paid.at(-1)).toMatchObject({ type: "run-end", status: "completed" });
  expect(paid.filter(({ type }) => type === "text-delta")).toMatchObject([{ delta: "done 1" }]);
  expect(paid.filter(({ type }) => type === "step-start")).toHaveLength(1);
});

test("a queued run and a working run are stopped from another process", async () => {
  const { runId: queued } = await engine.submit("desk", { input: "Hello", session: "anna" });
  expect(await engine.stop(queued)).toBe(true);
  await expect(engine.result(queued)).rejects.toThrow(/was stopped before it began/);
  await startWorker({ latencyMs: 1000 });
  const { runId } = await engine.submit("desk", { input: "Hello", session: "bert" });
  await until(async () => (await store.runs.get(runId))?.status === "running");
  expect(await engine.stop(runId, { reason: "enough" })).toBe(true);
  expect(await engine.result(runId)).toMatchObject({ status: "stopped", reason: "stop-requested" });
  expect(await engine.stop(runId)).toBe(false);
});

test("a run that is submitted twice under one id runs once", async () => {
  await startWorker();
  for (const input of ["first", "second"]) await engine.submit("desk", { input, session: "anna", runId: "order-17" });
  await engine.result("order-17");
  expect((await store.session("anna").getItems()).map(({ content }) => content)).toEqual(["first", "done 3"]);
});

test("ids are data: no run id reaches a run of another id or tenant", async () => {
  const ids = ["job", "job~1", "job:1", "b/job"];
  for (const runId of ids) await engine.submit("quick", { input: runId, session: `s ${runId}`, runId });
  await engine.submit("quick", { input: "of b", session: "s", namespace: "b", runId: "job" });
  expect(await engine.stop("b/job")).toBe(true);
  const worker = await startWorker();
  for (const runId of ids.slice(0, 3)) expect((await engine.result(runId)).status).toBe("completed");
  expect((await engine.result("job", { namespace: "b" })).status).toBe("completed");
  await kill(worker);
});

test("runs that were queued before a worker came keep their order", async () => {
  for (let turn = 0; turn < 30; turn++) await engine.submit("quick", { input: `turn ${turn}`, session: "anna" });
  await startWorker({ latencyMs: 1 });
  await until(async () => (await store.session("anna").getItemCount()) === 60);
  const asked = (await store.session("anna").getItems()).filter(({ role }) => role === "user");
  expect(asked.map(({ content }) => content)).toEqual(Array.from({ length: 30 }, (_, turn) => `turn ${turn}`));
});

test("a stop is never lost between the queue and the beginning of a run", async () => {
  await startWorker({ latencyMs: 400 });
  for (let attempt = 0; attempt < 15; attempt++) {
    const { runId } = await engine.submit("quick", { input: "Hello" });
    await sleep(attempt * 12);
    expect(await engine.stop(runId)).toBe(true);
    const ended = await engine.result(runId).catch((error: Error) => error.message);
    expect(typeof ended === "string" ? ended : ended.status).toMatch(/stopped/);
  }
});

test("runs of two tenants with the same session id never meet", async () => {
  await startWorker();
  const ids = await Promise.all(
    ["red", "blue"].map((namespace) => engine.submit("desk", { input: namespace, session: "anna", namespace })),
  );
  for (const [place, namespace] of ["red", "blue"].entries()) {
    const { runId } = ids[place] as { runId: string };
    expect((await engine.result(runId, { namespace })).status).toBe("completed");
    const said = await store.namespace(namespace).session("anna").getItems();
    expect(said.map(({ content }) => content)).toEqual([namespace, "done 3"]);
  }
});

test("a delayed run begins late, and a scheduled one every time", async () => {
  const worker = await startWorker();
  const { runId } = await engine.submit("desk", { input: "later", delayMs: 1500 });
  expect((await engine.health()).delayed).toBe(1);
  worker.send({
    schedule: { name: "every-second", cron: "* * * * * *", agent: "desk", input: "tick", session: "clock" },
  });
  expect((await engine.result(runId)).status).toBe("completed");
  await until(async () => (await store.session("clock").getItemCount()) >= 4);
  const said = await store.session("clock").getItems();
  expect(said.slice(0, 2).map(({ content }) => content)).toEqual(["tick", "done 3"]);
});

test("the metrics of a worker reach a meter", async () => {
  const seen: [string, number, object | undefined][] = [];
  const instrument = (name: string) => ({
    record: (value: number, attributes?: object) => void seen.push([name, value, attributes]),
    add: (value: number, attributes?: object) => void seen.push([name, value, attributes]),
    addCallback: (observe: (result: { observe(value: number): void }) => Promise<void>) =>
      void observe({ observe: (value) => void seen.push([name, value, undefined]) }),
  });
  const meter = { createHistogram: instrument, createCounter: instrument, createObservableGauge: instrument };
  const answering = new Agent({ name: "answering", model: scriptedModel(["Hello."]) });
  await using measured = dbosEngine({ store, agents: [answering], meter, pollMs: 50 });
  await measured.start();
  await measured.result((await measured.submit("answering", { input: "Hi" })).runId);
  await until(() => seen.some(([name]) => name === "offstage.run.tokens"));
  expect(seen.map(([name]) => name).sort()).toEqual([
    "offstage.queue.depth",
    "offstage.run.duration",
    "offstage.run.tokens",
  ]);
  expect(seen.at(-1)?.[2]).toEqual({ "gen_ai.agent.name": "answering", "offstage.run.status": "completed" });
});

test("examples/40-two-workers.ts finishes its runs although a worker is killed", async () => {
  const example = join(folder, "40-two-workers.ts");
  cpSync(new URL("../../../../examples/40-two-workers.ts", import.meta.url), example);
  onTestFinished(() => rmSync(example));
  const start = (...args: string[]): ChildProcess => {
    const env = { ...process.env, DATABASE_URL: server.url };
    const started = spawn(process.execPath, ["--no-deprecation", example, ...args], {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    workers.add(started);
    started.once("exit", () => workers.delete(started));
    return started;
  };
  const [first] = [start(), start()] as const;
  const submitter = start("submit");
  let printed = "";
  submitter.stdout?.on("data", (text) => {
    printed += text;
  });
  await until(() => printed.includes("order 1:"));
  await kill(first);
  await new Promise((resolve) => submitter.once("exit", resolve));
  expect(printed.match(/^order \d+: Sent, packed by worker \d+\.$/gm)).toHaveLength(10);
});

test("misuse is refused with a sentence", async () => {
  const desk = new Agent({ name: "desk", model: scriptedModel([]) });
  expect(() => dbosEngine({ store: memoryStore(), agents: [desk] })).toThrow(/needs a store on Postgres/);
  expect(() => dbosEngine({ store, agents: [] })).toThrow(/at least one agent/);
  expect(() => dbosEngine({ store, agents: [desk, desk] })).toThrow(/different names/);
  expect(() => dbosEngine({ store, agents: [desk], workers: 2 } as DbosEngineOptions)).toThrow(
    /Unknown dbosEngine\(\) option "workers"/,
  );
  await expect(engine.submit("nobody", { input: "Hello" })).rejects.toThrow(/Unknown agent "nobody"/);
  await expect(engine.submit("desk", { input: "" })).rejects.toThrow(/The input is empty/);
  await expect(engine.submit("desk", { input: "Hi", context: { at: new Date() } as never })).rejects.toThrow(
    /"context" must be/,
  );
  await expect(engine.result("unheard-of")).rejects.toMatchObject({ code: "run-not-found" });
  await engine.start();
  const second = dbosEngine({ store, agents });
  await expect(second.start()).rejects.toThrow(/one per process/);
  await second.close();
});
