// Runs on several workers over one Postgres: throughput with 1, 2 and 4 of them, and many sessions of several turns.
// Usage: node workers.mjs [--workers 1,2,4] [--runs 300] [--sessions 1000] [--turns 10]
import { fork } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { startPostgres } from "../packages/offstage/test/servers/postgres-server.ts";
import { installInterop } from "../packages/offstage/test/support/interop.ts";
import { LIMITS } from "./lib/performance-targets.mjs";
import { printTable } from "./lib/table.mjs";
import { printVerdicts } from "./lib/verdicts.mjs";

const { values: options } = parseArgs({
  options: {
    workers: { type: "string", default: "1,2,4" },
    runs: { type: "string", default: "300" },
    sessions: { type: "string", default: "1000" },
    turns: { type: "string", default: "10" },
  },
});
const latencyMs = 100;
const concurrency = 10;

const folder = await installInterop("dbos");
const load = (path) => import(pathToFileURL(join(folder, "node_modules/offstage/dist", path)).href);
const [{ Agent, postgresStore }, { dbosEngine }, { scriptedModel }] = await Promise.all(
  ["index.js", "doors/peers/dbos.js", "testing/index.js"].map(load),
);
const quick = new Agent({ name: "quick", model: scriptedModel([]) });

const rates = [];
for (const workers of options.workers.split(",").map(Number)) {
  const { seconds } = await measure({ workers, sessions: Number(options.runs) * workers, turns: 1 });
  rates.push({ workers, rate: (Number(options.runs) * workers) / seconds });
}
printTable(
  "Runs per second",
  ["workers", "runs per second", "per worker", "of what the latency allows"],
  rates.map(({ workers, rate }) => [
    String(workers),
    rate.toFixed(1),
    (rate / workers).toFixed(1),
    `${Math.round((100 * rate * latencyMs) / (1000 * concurrency * workers))} %`,
  ]),
);
const doublings = rates.slice(1).map(({ rate }, place) => rates[place].rate / rate);

const [sessions, turns] = [Number(options.sessions), Number(options.turns)];
const most = await measure({ workers: 4, sessions, turns });
printTable(
  "Many sessions on four workers",
  ["sessions x turns", "seconds", "runs per second", "lost", "out of order", "wait p50 / p99, s"],
  [
    [
      `${sessions} x ${turns}`,
      most.seconds.toFixed(1),
      ((sessions * turns) / most.seconds).toFixed(1),
      String(most.lost),
      String(most.outOfOrder),
      `${quantile(most.waits, 0.5).toFixed(1)} / ${quantile(most.waits, 0.99).toFixed(1)}`,
    ],
  ],
);
printVerdicts([{ ...LIMITS.workersDoubling, measured: doublings.length === 0 ? undefined : Math.max(...doublings) }]);

async function measure({ workers, sessions, turns }) {
  const server = await startPostgres();
  const store = postgresStore({ url: server.url });
  const engine = dbosEngine({ store, agents: [quick] });
  // Submitted first, so that the workers are busy from their first moment to the last.
  for (let turn = 0; turn < turns; turn++) await submitTurn(engine, { sessions, turn });
  const started = performance.now();
  const processes = await Promise.all(Array.from({ length: workers }, () => startWorker(server.url)));
  const ready = performance.now();
  await drained(engine);
  const seconds = (performance.now() - (workers === 1 ? ready : Math.max(started, ready))) / 1000;
  const checked = await check(store, { sessions, turns });
  const waits = await waitsIn(server.url);
  for (const worker of processes) worker.kill("SIGKILL");
  await engine.close();
  await store.close();
  await server.stop();
  return { seconds, waits, ...checked };
}

async function submitTurn(engine, { sessions, turn }) {
  const numbers = Array.from({ length: sessions }, (_, number) => number);
  while (numbers.length > 0) {
    const some = numbers.splice(0, 50);
    await Promise.all(some.map((number) => engine.submit("quick", { input: `turn ${turn}`, session: `s${number}` })));
  }
}

function startWorker(url) {
  const given = JSON.stringify({ url, latencyMs, engine: { concurrency } });
  const worker = fork(join(folder, "worker.js"), [given], { stdio: "ignore" });
  return new Promise((resolve) => worker.once("message", () => resolve(worker)));
}

async function drained(engine) {
  for (;;) {
    const { queued, delayed, running } = await engine.health();
    if (queued + delayed + running === 0) return;
    await sleep(250);
  }
}

async function check(store, { sessions, turns }) {
  const listed = await store.sessions.list();
  const lost = sessions * turns - listed.reduce((sum, { runCount }) => sum + runCount, 0);
  let outOfOrder = 0;
  for (const { sessionId } of listed.slice(0, 200)) {
    const asked = (await store.session(sessionId).getItems()).filter(({ role }) => role === "user");
    if (asked.some(({ content }, turn) => content !== `turn ${turn}`)) outOfOrder++;
  }
  return { lost, outOfOrder };
}

async function waitsIn(url) {
  const { default: pg } = await load("../../pg/lib/index.js");
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query("SELECT started_at_epoch_ms - created_at AS wait FROM dbos.workflow_status");
  await client.end();
  return rows.map(({ wait }) => Number(wait) / 1000).sort((a, b) => a - b);
}

function quantile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
