// What one streamed text delta costs, and how long the first one takes.
// Usage: npm run bench:stream -- [--quick] [--peers a,b] [--rounds n]
import { REFERENCE_PI_STREAM, STREAM_LIMITS } from "./lib/performance-targets.mjs";
import { saveResults } from "./lib/results.mjs";
import { alternate } from "./lib/rounds.mjs";
import { runWorker } from "./lib/run-worker.mjs";
import { chosenContenders, effortOf, readOptions } from "./lib/settings.mjs";
import { median, ratioOf, shown, shownRatio } from "./lib/statistics.mjs";
import { printTable } from "./lib/table.mjs";
import { printVerdicts } from "./lib/verdicts.mjs";

const DELTAS = 1000;
const PI = "pi-mariozechner";

const options = readOptions();
const effort = effortOf(options, { quickRounds: 3, fullRounds: 7 });
const contenders = await chosenContenders(options, ["offstage:push"]);
const results = {};

await alternate(contenders.map(streamJob), {
  rounds: effort.rounds,
  results,
  onResult(job, result, round) {
    console.log(`${job.key} round ${round + 1}: ${result.error ?? `${shown(result.usPerDelta)} µs per delta`}`);
    saveResults("stream", { results });
  },
});
printReport();

function streamJob(contender) {
  const params = { deltas: DELTAS, warmMs: effort.warmMs, measureMs: effort.measureMs };
  return { key: contender, run: () => runWorker("stream", contender, { params, timeoutMs: 120_000 }) };
}

function middle(contender, field) {
  return median((results[contender] ?? []).map((result) => result[field]));
}

function printReport() {
  const headers = ["contender", "µs per delta", "x bare", "x pi", "µs to the first", "x bare", "x pi"];
  const rows = contenders.map((contender) => [
    contender,
    ...cells(contender, "usPerDelta"),
    ...cells(contender, "firstDeltaUs"),
  ]);
  printTable(`Streaming ${DELTAS} text deltas`, headers, rows);
  printVerdicts(verdicts());
}

function cells(contender, field) {
  const value = middle(contender, field);
  return [shown(value), shownRatio(value, middle("bare", field)), shownRatio(value, middle(PI, field))];
}

function verdicts() {
  return [
    absolute("text delta", { contender: "offstage", field: "usPerDelta", limit: STREAM_LIMITS.delta }),
    absolute("first delta", { contender: "offstage", field: "firstDeltaUs", limit: STREAM_LIMITS.first }),
    absolute("text delta of a source that pushes", {
      contender: "offstage:push",
      field: "usPerDelta",
      limit: STREAM_LIMITS.pushedDelta,
    }),
    aheadOfOthers("text delta, ahead of all but pi", "usPerDelta"),
    aheadOfOthers("first delta, ahead of all but pi", "firstDeltaUs"),
  ];
}

function absolute(promise, { contender, field, limit }) {
  return {
    promise,
    kind: "goal",
    limit,
    unit: "µs",
    measured: middle(contender, field),
    bare: middle("bare", field),
    pi: middle(PI, field),
    referencePi: field === "usPerDelta" ? REFERENCE_PI_STREAM.delta : REFERENCE_PI_STREAM.first,
  };
}

function aheadOfOthers(promise, field) {
  const others = contenders.filter((contender) => !/^(bare|offstage|pi-)/.test(contender));
  const values = others.map((contender) => middle(contender, field)).filter((value) => value !== undefined);
  const fastest = values.length === 0 ? undefined : Math.min(...values);
  const measured = ratioOf(middle("offstage", field), fastest);
  return { promise, kind: "goal", limit: 1, strict: true, unit: "x", measured };
}
