import { afterAll, describe, expect, test } from "vitest";
import { openStore } from "../../src/sessions/open-store.ts";
import type { Store } from "../../src/sessions/store.ts";
import { checkRuns, countFaults } from "../processes/check-turns.ts";
import { killWriters, spawnWriter, type Written } from "../processes/spawn-writer.ts";
import type { TurnWriterOptions } from "../processes/turn-writer.ts";
import { delayingProxy } from "../servers/delaying-proxy.ts";
import { startPostgres } from "../servers/postgres-server.ts";
import { startRedis } from "../servers/redis-server.ts";

const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
const servers = [
  { name: "Postgres", url: postgres?.url ?? "" },
  { name: "Redis", url: redis?.url ?? "" },
].filter(({ url }) => url !== "");
afterAll(async () => {
  await Promise.all([postgres?.stop(), redis?.stop()]);
});

// An external server may have data of an earlier run of these tests.
const unique = (name: string): string => `${name}-${crypto.randomUUID().slice(0, 8)}`;
const faultless = { lost: 0, duplicated: 0, partial: 0 };

/** Starts this many processes with the same task. */
async function write(count: number, task: Omit<TurnWriterOptions, "name">): Promise<Written[]> {
  const names = Array.from({ length: count }, (_, n) => unique(`p${n}`));
  const done = await Promise.all(names.map((name) => spawnWriter({ ...task, name }).done));
  expect(done.map(({ errors }) => errors).join("")).toBe("");
  return done;
}

async function expectWhole(store: Store, sessionId: string, acknowledged: readonly string[]): Promise<void> {
  expect(await countFaults(store, acknowledged, sessionId)).toEqual(faultless);
  expect(await checkRuns(store, sessionId)).toEqual({ completed: acknowledged.length, interrupted: 0 });
  expect(await store.session(sessionId).getItemCount()).toBe(2 * acknowledged.length);
  for (const runId of acknowledged) {
    expect((await store.runs.get(runId))?.steps.map(({ messages }) => messages.length)).toEqual([3, 1]);
  }
}

// The wait is long but idle, so it runs beside the other tests.
const silenced = Promise.all(
  servers.flatMap(({ url }) => (["SIGKILL", "SIGSTOP"] as const).map((signal) => silence(url, signal))),
);

/** Kills or stops a holder on another machine, lets another process take over, then lets the first continue. */
async function silence(url: string, signal: "SIGKILL" | "SIGSTOP") {
  const s = unique("silent");
  const [away, near] = [unique("away"), unique("near")];
  const holder = spawnWriter({ url, sessionId: s, name: away, turns: 1, pauseMs: 1_000, hostname: "far-away" });
  await holder.started;
  holder.kill(signal);
  const begun = performance.now();
  await spawnWriter({ url, sessionId: s, name: near, turns: 1 }).done;
  const waitedMs = performance.now() - begun;
  holder.kill("SIGCONT");
  const { errors } = await holder.done;
  await using store = openStore(url);
  const said = (await store.session(s).getItems()).map(({ content }) => content);
  const expected = [`question ${away}-0`, `question ${near}-0`, `answer ${near}-0`];
  return { name: signal, waitedMs, errors, said, expected };
}

describe.each(servers)("$name", ({ url }) => {
  test("4 processes with 2 x 10 runs on one session give one serial order", async () => {
    const s = unique("serial");
    const done = await write(4, { url, sessionId: [s, s], turns: 10 });
    const acknowledged = done.flatMap((each) => each.acknowledged);
    expect(acknowledged).toHaveLength(80);
    await using store = openStore(url);
    await expectWhole(store, s, acknowledged);
  });

  test("3 processes with onBusy reject are refused, and lose nothing", async () => {
    const s = unique("impatient");
    const done = await write(3, { url, sessionId: [s, s], turns: 6, onBusy: "reject" });
    const acknowledged = done.flatMap((each) => each.acknowledged);
    expect(acknowledged).toHaveLength(36);
    expect(done.reduce((sum, { refused }) => sum + refused, 0)).toBeGreaterThan(0);
    await using store = openStore(url);
    await expectWhole(store, s, acknowledged);
  });

  test("3 processes on 3 sessions keep every session complete", async () => {
    const sessionIds = [0, 1, 2].map((n) => unique(`many${n}`));
    const done = await write(3, { url, sessionId: sessionIds, turns: 5 });
    await using store = openStore(url);
    for (const [place, sessionId] of sessionIds.entries()) {
      const turns = done.flatMap(({ acknowledged }) => acknowledged).filter((turn) => turn.includes(`.${place}-`));
      expect(turns).toHaveLength(15);
      await expectWhole(store, sessionId, turns);
    }
  });

  test("after 5 random kills no acknowledged turn is lost, duplicated or partial", async () => {
    const s = unique("killed");
    const acknowledged = await killWriters(url, { kills: 5, name: unique("k"), sessionId: s });
    await using store = openStore(url);
    expect(await countFaults(store, acknowledged, s)).toEqual(faultless);
    await checkRuns(store, s);
  });

  test("a late write of a killed process is refused after its session was taken over", async () => {
    const s = unique("late");
    const [killed, next] = [unique("killed"), unique("next")];
    const proxy = await delayingProxy(url, `answer ${killed}-0`);
    const writer = spawnWriter({ url: proxy.url, sessionId: s, name: killed, turns: 1 });
    await proxy.held;
    writer.kill();
    expect(await writer.done).toMatchObject({ signal: "SIGKILL", acknowledged: [] });
    const { acknowledged } = await spawnWriter({ url, sessionId: s, name: next, turns: 1 }).done;
    expect(await proxy.release()).toContain(s);
    proxy.stop();
    expect(acknowledged).toEqual([`${next}-0`]);
    await using store = openStore(url);
    const said = (await store.session(s).getItems()).map(({ content }) => content);
    expect(said).toEqual([`question ${killed}-0`, `question ${next}-0`, `answer ${next}-0`]);
    expect((await store.runs.get(`${killed}-0`))?.status).toBe("interrupted");
    expect(await store.verify()).toEqual([]);
  });
});

test.runIf(servers.length > 0)(
  "a holder on another machine that was killed or stopped is replaced when its lease expires",
  {
    timeout: 60_000,
  },
  async () => {
    for (const { waitedMs } of await silenced) {
      expect(waitedMs).toBeGreaterThan(5_000);
      expect(waitedMs).toBeLessThan(15_000);
    }
  },
);

test.runIf(servers.length > 0)(
  "a holder on another machine that continues after its lease expired is refused",
  async () => {
    for (const { name, errors, said, expected } of await silenced) {
      if (name === "SIGSTOP") expect(errors).toContain("SessionConflictError");
      expect(said).toEqual(expected);
    }
  },
);
