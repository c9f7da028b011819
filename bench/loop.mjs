// The cost of one step of an agent, tracing off and on: by number of steps, in heap, and with many runs at once.
// Usage: npm run bench:loop -- [--quick] [--peers a,b] [--ks 1,10] [--tracing off,on] [--rounds n]
import { describePeer } from "./lib/contenders.mjs";
import { printLoopReport } from "./lib/loop-report.mjs";
import { saveResults } from "./lib/results.mjs";
import { alternate } from "./lib/rounds.mjs";
import { runWorker } from "./lib/run-worker.mjs";
import { chosenContenders, effortOf, readOptions } from "./lib/settings.mjs";
import { shown } from "./lib/statistics.mjs";

/** The growth to 10,000 steps and the many runs at once are measured for these only. */
const CLOSE_LOOK = ["bare", "offstage"];
const GROWN_STEPS = 10_000;
const TIMEOUT_MS = 300_000;

const options = readOptions({
  ks: { type: "string", default: "1,10,100,1000" },
  tracing: { type: "string", default: "off,on" },
});
const effort = effortOf(options, { quickRounds: 3, fullRounds: 5 });
const contenders = await chosenContenders(options);
const results = {};

for (const steps of options.ks.split(",").map(Number)) {
  await measure(await loopJobs(steps), roundsFor(steps));
}
await measure(growthJobs(), roundsFor(GROWN_STEPS));
await measure(concurrencyJobs(), roundsFor(GROWN_STEPS));
printLoopReport({ contenders, steps: options.ks.split(",").map(Number), grownSteps: GROWN_STEPS, results });

/** Long runs are measured less often. */
function roundsFor(steps) {
  return options.rounds === undefined && steps >= 1000 ? Math.min(effort.rounds, 3) : effort.rounds;
}

function measure(jobs, rounds) {
  return alternate(jobs, {
    rounds,
    results,
    onResult(job, result, round) {
      console.log(`${job.key} round ${round + 1}: ${result.error ?? `${shown(job.figureOf(result))} µs per step`}`);
      saveResults("loop", { results });
    },
  });
}

async function loopJobs(steps) {
  const jobs = [];
  for (const contender of contenders) {
    for (const tracing of await tracingsOf(contender)) {
      jobs.push(loopJob(contender, steps, tracing));
    }
  }
  return jobs;
}

async function tracingsOf(contender) {
  const { tracing } = await describePeer(contender);
  const possible = { optional: ["off", "on"], never: ["off"], always: ["on"] }[tracing];
  return options.tracing.split(",").filter((mode) => possible.includes(mode));
}

function loopJob(contender, steps, tracing) {
  const { warmMs, measureMs } = effort;
  const params = { steps, tracing: tracing === "on", heap: steps === 1000, warmMs, measureMs };
  return {
    key: `${contender}|${steps}|${tracing}`,
    figureOf: (result) => result.usPerStep,
    run: () => runWorker("loop", contender, { params, timeoutMs: TIMEOUT_MS }),
  };
}

function growthJobs() {
  return closeLook().map((contender) => loopJob(contender, GROWN_STEPS, "off"));
}

function concurrencyJobs() {
  const params = { runs: 1000, steps: 10, rounds: 5, warmMs: effort.warmMs };
  return closeLook().map((contender) => ({
    key: `${contender}|concurrency`,
    figureOf: (result) => result.atOnceUsPerStep,
    run: () => runWorker("concurrency", contender, { params, timeoutMs: TIMEOUT_MS }),
  }));
}

function closeLook() {
  return CLOSE_LOOK.filter((contender) => contenders.includes(contender));
}
