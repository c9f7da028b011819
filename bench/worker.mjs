// One process, one contender, one measurement. Prints one line of JSON after a mark.
// Usage: node --expose-gc worker.mjs <measure> <contender> '<parameters as JSON>'
import fs from "node:fs";
import { loadAdapter, partsOf } from "./lib/contenders.mjs";
import { RESULT_MARK } from "./lib/run-worker.mjs";
import { measureConcurrency } from "./measures/concurrency.mjs";
import { measureLoop } from "./measures/loop.mjs";
import { measureSession } from "./measures/session.mjs";
import { measureStream } from "./measures/stream.mjs";

const MEASURES = {
  loop: measureLoop,
  concurrency: measureConcurrency,
  session: measureSession,
  stream: measureStream,
};

function print(result) {
  fs.writeSync(1, `\n${RESULT_MARK}${JSON.stringify(result)}\n`);
}

async function main() {
  const [measure, contender, json = "{}"] = process.argv.slice(2);
  const run = MEASURES[measure];
  if (run === undefined || contender === undefined) {
    throw new Error(`Usage: worker.mjs ${Object.keys(MEASURES).join("|")} <contender> '<parameters as JSON>'`);
  }
  const adapter = await loadAdapter(contender);
  print(await run(adapter, { ...JSON.parse(json), variant: partsOf(contender).variant }));
}

try {
  await main();
  process.exit(0);
} catch (error) {
  const stack = String(error?.stack).split("\n").slice(0, 6).join(" | ");
  print({ error: String(error?.message ?? error).slice(0, 300), stack });
  process.exit(1);
}
