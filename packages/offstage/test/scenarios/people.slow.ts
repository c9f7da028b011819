// People in a run, across processes: what they say is seen exactly once, a stop arrives, and a question survives kill -9.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Agent, openStore, sqliteStore, tool } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { clerk } from "../processes/people-worker.ts";
import { killAtInbox, startPerson } from "../processes/spawn-people.ts";
import { type PostgresServer, startPostgres } from "../servers/postgres-server.ts";
import { type RedisServer, startRedis } from "../servers/redis-server.ts";
import { calls, glance } from "../support/cast.ts";

const folder = mkdtempSync(join(tmpdir(), "offstage-people-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a message said by a process that is killed at inbox.add or inbox.take is seen exactly once", async () => {
  const kills = await killAtInbox(join(folder, "kills.db"), 5);
  process.stdout.write(`${kills} kills at inbox.add and inbox.take: every message exactly once\n`);
});

test("what four processes say while a run works is seen by it or by the next one, exactly once", async () => {
  const url = `sqlite:${join(folder, "speakers.db")}`;
  await using store = openStore(url);
  const session = store.session("s");
  const names = ["ann", "ben", "cleo", "dan"];
  let speaking = names.length;
  const look = tool({ name: "look", input: {}, execute: () => sleep(15, "nothing yet") });
  const reply = () => (speaking > 0 ? calls({ name: "look" }) : "Done.");
  const model = scriptedModel(reply);
  const agent = new Agent({ model, tools: [look], maxSteps: 100_000 });
  const running = agent.run("Go", { session });
  const people = names.map(async (name) => {
    const { errors } = await startPerson({ role: "speak", name, count: 25, url, session: "s" }).ended;
    expect(errors).toBe("");
    speaking--;
  });
  await Promise.all(people);
  await running;
  await agent.run("Bye", { session, historyLimit: 1_000 });
  const expected = names.flatMap((name) => Array.from({ length: 25 }, (_, number) => `user: ${name} ${number}`));
  const items = glance(await session.getItems());
  expect(items.filter((item) => item.startsWith("user: ") && !/Go|Bye/.test(item)).sort()).toEqual(expected.sort());
  const shown = glance(model.requests.at(-1)?.messages ?? []).filter((each) => /^user: [a-d]\w+ \d+$/.test(each));
  expect(shown.length).toBe(100);
  for (const name of names) {
    const own = items.filter((item) => item.startsWith(`user: ${name} `));
    expect(own).toEqual(Array.from({ length: 25 }, (_, number) => `user: ${name} ${number}`));
  }
  expect(await store.verify()).toEqual([]);
  process.stdout.write(`100 messages of 4 processes: ${items.length} items, each exactly once and in order\n`);
});

test("a stop reaches a run in another process within three seconds", async () => {
  const url = `sqlite:${join(folder, "stop.db")}`;
  await using store = openStore(url);
  const worker = startPerson({ role: "work", url, session: "s" });
  await new Promise((resolve) => worker.child.stdout?.once("data", resolve));
  const [run] = await store.runs.list({ status: "running" });
  const startedAt = performance.now();
  expect(await store.runs.stop(run?.runId ?? "", { reason: "enough" })).toBe(true);
  const { lines } = await worker.ended;
  const tookMs = performance.now() - startedAt;
  expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ status: "stopped", reason: "stop-requested" });
  expect(tookMs).toBeLessThan(3_000);
  process.stdout.write(`a stop from another process took ${tookMs.toFixed(0)} ms\n`);
});

test("a run whose process was killed is ended by a stop at once", async () => {
  const url = `sqlite:${join(folder, "dead.db")}`;
  await using store = openStore(url);
  const worker = startPerson({ role: "work", url, session: "s" });
  await new Promise((resolve) => worker.child.stdout?.once("data", resolve));
  worker.child.kill("SIGKILL");
  await worker.ended;
  const [run] = await store.runs.list({});
  expect([run?.status, await store.runs.stop(run?.runId ?? "")]).toEqual(["interrupted", true]);
  expect(await store.runs.get(run?.runId ?? "")).toMatchObject({ status: "stopped", reason: "stop-requested" });
});

test("500 stops race the answer to one of two outcomes", async () => {
  await using store = sqliteStore({ path: join(folder, "races.db") });
  let stopped = 0;
  for (let round = 0; round < 500; round++) {
    const reply = async () => {
      await sleep(Math.random() * 4);
      return "The answer.";
    };
    const stream = new Agent({ model: scriptedModel([reply]) }).stream("Ask", { session: store.session(`s${round}`) });
    await stream.started;
    await sleep(Math.random() * 8);
    const isStopped = await store.runs.stop(stream.runId);
    const { outcome } = await stream.result;
    expect(outcome.reason).toBe(isStopped ? "stop-requested" : "answered");
    expect(await store.runs.get(stream.runId)).toMatchObject({ status: outcome.status, reason: outcome.reason });
    if (isStopped) stopped++;
  }
  process.stdout.write(`500 races: ${stopped} stopped, ${500 - stopped} answered, never both\n`);
});

describe("a question survives kill -9 between question and answer", () => {
  let postgres: PostgresServer | undefined;
  let redis: RedisServer | undefined;
  beforeAll(async () => {
    [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  });
  afterAll(async () => {
    await Promise.all([postgres?.stop(), redis?.stop()]);
  });

  test.each(["sqlite", "postgres", "redis"] as const)("on %s, and is answered once", async (kind) => {
    const urls = { sqlite: `sqlite:${join(folder, "asked.db")}`, postgres: postgres?.url, redis: redis?.url };
    const url = urls[kind] ?? expect.fail(`no ${kind} server`);
    const effects = join(folder, `${kind}.effects`);
    writeFileSync(effects, "");
    const { lines, signal, errors } = await startPerson({ role: "ask", effects, url, session: "s" }).ended;
    expect(signal, errors).toBe("SIGKILL");
    const { runId, status } = JSON.parse(lines[0] ?? "{}") as { runId: string; status: string };
    expect(status).toBe("waiting");
    await using store = openStore(url);
    expect((await store.runs.get(runId))?.approvals).toMatchObject([{ kind: "question", message: "Which seat?" }]);
    const answers = [{ toolCallId: "b1", value: "12A" }];
    const both = await Promise.allSettled([0, 1].map(() => clerk(effects).resume(runId, { store, answers })));
    expect(both.filter((each) => each.status === "fulfilled")).toHaveLength(1);
    expect(readFileSync(effects, "utf8")).toBe("12A\n");
    expect(glance(await store.session("s").getItems())).toEqual(["user: A seat", "assistant: Booked."]);
    await store.session("s").say("One more thing.");
    const agent = new Agent({ model: scriptedModel(["Yes?"]) });
    await agent.run("Hello", { session: store.session("s") });
    expect(glance(await store.session("s").getItems(3))).toEqual([
      "user: One more thing.",
      "user: Hello",
      "assistant: Yes?",
    ]);
    expect(await store.verify()).toEqual([]);
  });
});
