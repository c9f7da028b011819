// How fast tokens are counted, what loading a counter takes, and how right it is (o200k_base).
// Usage: npm run bench:tokens -- [--quick]
import { spawnSync } from "node:child_process";
import { nowUs } from "./lib/clock.mjs";
import { benchRoot } from "./lib/contenders.mjs";
import { bytesOf, corpus } from "./lib/corpus.mjs";
import { saveResults } from "./lib/results.mjs";
import { alternate, orderOf } from "./lib/rounds.mjs";
import { RESULT_MARK } from "./lib/run-worker.mjs";
import { readOptions } from "./lib/settings.mjs";
import { median, shown, shownRatio } from "./lib/statistics.mjs";
import { printTable } from "./lib/table.mjs";
import { REFERENCE, TOKENIZERS } from "./lib/tokenizers.mjs";

/** The first parts only warm the engine up. */
const WARM_PARTS = 3;
const CHECKED_MESSAGES = 3000;
/** The exact counter that Offstage offers. */
const EXACT = "gpt-tokenizer countTokens";

const options = readOptions();
const parts = options.quick ? 8 : 16;
const loads = await measureLoads(options.quick ? 3 : 7);
const names = Object.keys(TOKENIZERS).filter((name) => loads[name].every((result) => result.error === undefined));
const counters = Object.fromEntries(await Promise.all(names.map(async (name) => [name, await TOKENIZERS[name]()])));
const messages = corpus(options.quick ? 2e6 : 8e6);
const speeds = measureSpeeds();
const accuracy = measureAccuracy();
saveResults("tokens", { loads, speeds, accuracy });
printReport();

async function measureLoads(rounds) {
  const results = {};
  const jobs = Object.keys(TOKENIZERS).map((name) => ({ key: name, run: () => loadOnce(name) }));
  await alternate(jobs, {
    rounds,
    results,
    onResult(job, result) {
      if (result.error !== undefined) {
        console.log(`${job.key} is left out: ${result.error}`);
      }
    },
  });
  return results;
}

function loadOnce(name) {
  const args = ["--expose-gc", "measures/token-load.mjs", name];
  const child = spawnSync(process.execPath, args, { cwd: benchRoot, encoding: "utf8" });
  const json = child.stdout.split(RESULT_MARK)[1];
  return json === undefined ? { error: errorIn(child.stderr) } : JSON.parse(json);
}

function errorIn(output) {
  return output.split("\n").find((line) => /Error/.test(line)) ?? output.slice(0, 200);
}

/** MB per second by name, on text never seen before and on the same text again. */
function measureSpeeds() {
  const found = Object.fromEntries(names.map((name) => [name, { first: [], again: [] }]));
  const size = Math.floor(messages.length / parts);
  for (let part = 0; part < parts; part++) {
    const texts = messages.slice(part * size, (part + 1) * size);
    for (const name of orderOf(names, part)) {
      const first = speedOf(counters[name], texts);
      const again = speedOf(counters[name], texts);
      if (part >= WARM_PARTS) {
        found[name].first.push(first);
        found[name].again.push(again);
      }
    }
  }
  return found;
}

/** Bytes per microsecond, which is MB per second. */
function speedOf(count, texts) {
  const start = nowUs();
  for (const text of texts) {
    count(text);
  }
  const elapsedUs = nowUs() - start;
  return bytesOf(texts) / elapsedUs;
}

/** After the timing, so that no counter has seen the text before. */
function measureAccuracy() {
  const sample = messages.slice(0, CHECKED_MESSAGES);
  const expected = sample.map((text) => counters[REFERENCE](text));
  const expectedTotal = sum(expected);
  const check = (name) => {
    const counted = sample.map((text) => counters[name](text));
    const wrong = counted.filter((tokens, index) => tokens !== expected[index]).length;
    return { wrong, errorPercent: (100 * (sum(counted) - expectedTotal)) / expectedTotal };
  };
  return Object.fromEntries(names.map((name) => [name, check(name)]));
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}

function printReport() {
  const title = `Token counting, ${messages.length} messages, ${shown(bytesOf(messages) / 1e6)} MB`;
  const headers = ["counter", "MB/s", "x exact", "MB/s again", "load ms", "heap MB", "external MB", "wrong", "error %"];
  printTable(title, headers, names.map(rowOf));
}

function rowOf(name) {
  const loaded = (field) => shown(median(loads[name].map((result) => result[field])));
  return [
    name,
    shown(median(speeds[name].first)),
    shownRatio(median(speeds[name].first), median(speeds[EXACT].first)),
    shown(median(speeds[name].again)),
    loaded("loadMs"),
    loaded("heapMB"),
    loaded("externalMB"),
    accuracy[name].wrong,
    shown(accuracy[name].errorPercent),
  ];
}
