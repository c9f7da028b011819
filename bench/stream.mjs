// The cost of one streamed text delta, and the time to the first one.
// Usage: npm run bench:stream -- [--quick] [--peers a,b] [--rounds n]
import { LIMITS } from "./lib/performance-targets.mjs";
import { saveResults } from "./lib/results.mjs";
import { alternate } from "./lib/rounds.mjs";
import { runWorker } from "./lib/run-worker.mjs";
import { chosenContenders, effortOf, readOptions } from "./lib/settings.mjs";
import { differenceOf, median, shown, shownRatio } from "./lib/statistics.mjs";
import { printTable } from "./lib/table.mjs";
import { printVerdicts } from "./lib/verdicts.mjs";

const DELTAS = 1000;
const PI = "pi-mariozechner";
/** Reads the stream of the scripted model without a framework. */
const SOURCE = "bare:source";

const options = readOptions();
const effort = effortOf(options, { quickRounds: 3, fullRounds: 7 });
const contenders = [...new Set([SOURCE, ...(await chosenContenders(options, ["offstage:push"]))])];
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
  const measured = differenceOf(middle("offstage", "usPerDelta"), middle(SOURCE, "usPerDelta"));
  printVerdicts([{ ...LIMITS.delta, measured }]);
}

function cells(contender, field) {
  const value = middle(contender, field);
  return [shown(value), shownRatio(value, middle("bare", field)), shownRatio(value, middle(PI, field))];
}
