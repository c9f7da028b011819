// What one turn costs as a session grows, in memory and durable, and what it leaves on disk.
// Usage: npm run bench:session -- [--quick] [--jobs bare/memory,bare/sqlite] [--turns n] [--rounds n]
import { readyContenders } from "./lib/contenders.mjs";
import { REFERENCE_PI_TURN, SESSION_LIMITS } from "./lib/performance-targets.mjs";
import { saveResults } from "./lib/results.mjs";
import { alternate } from "./lib/rounds.mjs";
import { runWorker } from "./lib/run-worker.mjs";
import { effortOf, readOptions } from "./lib/settings.mjs";
import { median, shown, shownRatio } from "./lib/statistics.mjs";
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

const options = readOptions({ jobs: { type: "string" }, turns: { type: "string", default: "200" } });
const effort = effortOf(options, { quickRounds: 3, fullRounds: 5 });
const turns = Number(options.turns);
const names = await readyJobs(options.jobs?.split(",") ?? (options.quick ? QUICK_JOBS : ALL_JOBS));
const results = {};

await alternate(names.map(sessionJob), {
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

function sessionJob(name) {
  const [contender, store] = name.split("/");
  return { key: name, run: () => runWorker("session", contender, { params: { store, turns } }) };
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
  const measured = ["memory", "sqlite"].filter((store) => names.includes(`offstage/${store}`));
  if (measured.length > 0) {
    printVerdicts(measured.flatMap(verdictsOf));
  }
}

function verdictsOf(store) {
  const name = `offstage/${store}`;
  const pi = store === "memory" ? "pi-mariozechner/memory" : undefined;
  const turn10 = {
    measured: middle(name, "msAt10"),
    bare: middle(baseOf(name), "msAt10"),
    pi: pi && middle(pi, "msAt10"),
    referencePi: pi && REFERENCE_PI_TURN,
  };
  const growth = { measured: middle(name, "msAtEnd") / middle(name, "msAt10") };
  const megabytes = { measured: middle(name, "bytes") / 1e6, bare: middle(baseOf(name), "bytes") / 1e6 };
  return [
    ...bothKinds(`turn 10 in ${store}`, "ms", SESSION_LIMITS[store], turn10),
    { promise: `turn ${turns} against turn 10`, kind: "must", limit: SESSION_LIMITS.growth, unit: "x", ...growth },
    ...(store === "memory" || turns !== 200
      ? []
      : bothKinds("file after 200 turns", "MB", SESSION_LIMITS.megabytes, megabytes)),
  ];
}

function bothKinds(promise, unit, limits, figures) {
  return ["must", "goal"].map((kind) => ({ promise, kind, limit: limits[kind], unit, ...figures }));
}

function rowOf(name) {
  const times = ["msAt10", "msAt100", "msAtEnd"].flatMap((field) => [
    shown(middle(name, field)),
    shownRatio(middle(name, field), middle(baseOf(name), field)),
  ]);
  const megabytes = (middle(name, "bytes") ?? Number.NaN) / 1e6;
  return [name, ...times, shown(megabytes), shown(middle(name, "items")), shown(middle(name, "longestPrompt"))];
}
