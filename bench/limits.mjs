// The limits of this machine and this engine: SQLite, JSON, searching and exporting messages, asynchronous hops.
// Usage: npm run bench:limits -- [--quick]
import fs from "node:fs";
import path from "node:path";
import { benchRoot } from "./lib/contenders.mjs";
import { corpus } from "./lib/corpus.mjs";
import { saveResults } from "./lib/results.mjs";
import { alternate } from "./lib/rounds.mjs";
import { effortOf, readOptions } from "./lib/settings.mjs";
import { median, shown } from "./lib/statistics.mjs";
import { printTable } from "./lib/table.mjs";
import { exportLimits } from "./limits/exports.mjs";
import { hopLimits } from "./limits/hops.mjs";
import { jsonLimits } from "./limits/json.mjs";
import { makeMessages } from "./limits/messages.mjs";
import { queryLimits } from "./limits/queries.mjs";
import { sqliteLimits } from "./limits/sqlite.mjs";

const MESSAGES = 1_000_000;
const WARM_ROUNDS = 2;

const options = readOptions();
const effort = effortOf(options, { quickRounds: 1, fullRounds: 7 });
const folder = path.join(benchRoot, "results", "limits");
fs.mkdirSync(folder, { recursive: true });
const texts = corpus(4e6, 7);
const messages = makeMessages(MESSAGES, texts);
const limits = [
  ...sqliteLimits(folder),
  ...jsonLimits(texts),
  ...queryLimits(messages),
  ...exportLimits(messages, folder),
  ...hopLimits(),
];
const results = {};

await alternate(
  limits.map((limit) => ({ key: limit.name, run: () => measure(limit) })),
  { rounds: WARM_ROUNDS + effort.rounds, results, onResult() {} },
);
saveResults("limits", { results });
printTable(
  "Limits of this machine",
  ["work", "median", "unit"],
  limits.map(({ name, unit }) => [name, shown(figureOf(name)), unit]),
);
fs.rmSync(folder, { recursive: true, force: true });
process.exit(0);

async function measure({ run, repeats = 1 }) {
  globalThis.gc?.();
  const figures = [];
  for (let repeat = 0; repeat < repeats; repeat++) {
    figures.push(await run());
  }
  return { figure: median(figures) };
}

/** The median without the rounds that only warm the engine up. */
function figureOf(name) {
  return median(results[name].slice(WARM_ROUNDS).map((result) => result.figure));
}
