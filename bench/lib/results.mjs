// Raw results on disk: results/<name>.json holds the last run, with the machine it ran on.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { benchRoot } from "./contenders.mjs";

/** Writes `data` of the measurement `name`, replacing that of an earlier run. */
export function saveResults(name, data) {
  const folder = path.join(benchRoot, "results");
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, `${name}.json`), `${JSON.stringify({ machine: machine(), ...data }, null, 1)}\n`);
}

function machine() {
  const cpus = os.cpus();
  return {
    node: process.version,
    cpus: cpus.length,
    cpu: cpus[0]?.model,
    load: os.loadavg(),
    date: new Date().toISOString(),
  };
}
