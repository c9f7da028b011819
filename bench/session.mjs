// The cost of one turn as a session grows, in memory and durable, and the size on disk.
// Usage: npm run bench:session -- [--quick] [--jobs bare/memory,bare/sqlite] [--turns n] [--rounds n]
import { readyContenders } from "./lib/contenders.mjs";
import { LIMITS } from "./lib/performance-targets.mjs";
import { saveResults } from "./lib/results.mjs";
import { alternate } from "./lib/rounds.mjs";
import { runWorker } from "./lib/run-worker.mjs";
import { effortOf, readOptions } from "./lib/settings.mjs";
import { median, ratioOf, shown, shownRatio } from "./lib/statistics.mjs";
import { printTable } from "./lib/table.mjs";
import { printVerdicts } from "./lib/verdicts.mjs";

const QUICK_JOBS = [
  "bare/memory",
  "pi-mariozechner/memory",
  "ai-sdk/memory",
  "offstage/memory",
  "bare:window/sqlite",
  "offstage/sqlite",
];

const ALL_JOBS = [
  "bare/memory",
  "pi-mariozechner/memory",
  "ai-sdk/memory",
  "strands/memory",
  "openai-agents/memory",
  "langgraph:raw/memory",
  "langgraph/memory",
  "voltagent/memory",
  "mastra/memory",
  "mastra:full/memory",
  "offstage/memory",
  "bare/sqlite",
  "bare:cached/sqlite",
  "bare:window/sqlite",
  "openai-agents/sqlite",
  "strands/file",
  "langgraph:raw/sqlite",
  "langgraph/sqlite",
  "langgraph:exit/sqlite",
  "voltagent/sqlite",
  "mastra/sqlite",
  "mastra:full/sqlite",
  "offstage/sqlite",
];

/** The durable sessions that Offstage is compared with. */
const DURABLE_PEERS = ["strands/file", "openai-agents/sqlite", "mastra/sqlite", "langgraph/sqlite", "voltagent/sqlite"];

const options = readOptions({ jobs: { type: "string" }, turns: { type: "string", default: "200" } });
const effort = effortOf(options, { quickRounds: 3, fullRounds: 5 });
const turns = Number(options.turns);
/** The turns after which the cost of tool history is compared with turn 10. */
const DIGEST_TURNS = 1000;
const DIGEST_JOB = `offstage/sqlite, ${DIGEST_TURNS} turns`;
const names = await readyJobs(options.jobs?.split(",") ?? (options.quick ? QUICK_JOBS : ALL_JOBS));
const results = {};

const jobs = names.map((name) => sessionJob(name));
if (names.includes("offstage/sqlite")) {
  jobs.push({ ...sessionJob("offstage/sqlite", DIGEST_TURNS), key: DIGEST_JOB });
}
await alternate(jobs, {
  rounds: effort.rounds,
  results,
  onResult(job, result, round) {
    console.log(`${job.key} round ${round + 1}: ${result.error ?? `${shown(result.msAtEnd)} ms per turn at the end`}`);
    saveResults("session", { results });
  },
});
printReport();

async function readyJobs(jobs) {
  const contenders = [...new Set(jobs.map((job) => job.split("/")[0]))];
  const ready = await readyContenders(contenders);
  return jobs.filter((job) => ready.includes(job.split("/")[0]));
}

function sessionJob(name, count = turns) {
  const [contender, store] = name.split("/");
  return { key: name, run: () => runWorker("session", contender, { params: { store, turns: count } }) };
}

function middle(name, field) {
  return median((results[name] ?? []).map((result) => result[field]));
}

/** A durable session is compared with the limit that also reads only what it needs. */
function baseOf(name) {
  return name.endsWith("/memory") ? "bare/memory" : "bare:window/sqlite";
}

function printReport() {
  const headers = [
    "session",
    "turn 10",
    "x bare",
    "turn 100",
    "x bare",
    `turn ${turns}`,
    "x bare",
    "MB",
    "items",
    "seen",
  ];
  printTable("ms per turn; size on disk; items kept; longest prompt", headers, names.map(rowOf));
  if (names.includes("offstage/sqlite")) {
    printVerdicts(verdicts());
  }
}

function verdicts() {
  const ours = (field) => middle("offstage/sqlite", field);
  const at200 = (figure) => (turns === 200 ? figure : undefined);
  return [
    { ...LIMITS.durableTurn10, measured: ratioOf(ours("msAt10"), fastestPeer("msAt10")) },
    { ...LIMITS.durableTurn200, measured: at200(ratioOf(ours("msAtEnd"), fastestPeer("msAtEnd"))) },
    { ...LIMITS.durableGrowth, measured: ratioOf(ours("msAtEnd"), ours("msAt10")) },
    { ...LIMITS.digestGrowth, measured: ratioOf(middle(DIGEST_JOB, "msAtEnd"), middle(DIGEST_JOB, "msAt10")) },
    { ...LIMITS.file, measured: at200(ratioOf(ours("bytes"), 1e6)) },
  ];
}

/** The figure of the fastest durable peer; `undefined` if none was measured. */
function fastestPeer(field) {
  const figures = DURABLE_PEERS.map((name) => middle(name, field)).filter((figure) => figure !== undefined);
  return figures.length === 0 ? undefined : Math.min(...figures);
}

function rowOf(name) {
  const times = ["msAt10", "msAt100", "msAtEnd"].flatMap((field) => [
    shown(middle(name, field)),
    shownRatio(middle(name, field), middle(baseOf(name), field)),
  ]);
  const megabytes = (middle(name, "bytes") ?? Number.NaN) / 1e6;
  return [name, ...times, shown(megabytes), shown(middle(name, "items")), shown(middle(name, "longestPrompt"))];
}
