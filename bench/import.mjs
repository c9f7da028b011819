// Cold start and size: what importing a package adds to a fresh Node process, and what installing it puts on disk.
// Usage: npm run bench:import -- [--quick] [--peers a,b] [--rounds n]
import { spawnSync } from "node:child_process";
import { nowUs } from "./lib/clock.mjs";
import { describePeer, partsOf } from "./lib/contenders.mjs";
import { installedSize, packedSize } from "./lib/package-size.mjs";
import { LIMITS } from "./lib/performance-targets.mjs";
import { saveResults } from "./lib/results.mjs";
import { alternate } from "./lib/rounds.mjs";
import { quietEnvironment } from "./lib/run-worker.mjs";
import { chosenContenders, effortOf, readOptions } from "./lib/settings.mjs";
import { differenceOf, median, shown, shownRatio } from "./lib/statistics.mjs";
import { printTable } from "./lib/table.mjs";
import { printVerdicts } from "./lib/verdicts.mjs";

const BARE = "(bare node)";
const PI = "@mariozechner/pi-agent-core";

const options = readOptions();
const effort = effortOf(options, { quickRounds: 5, fullRounds: 15 });
const peerNames = [...new Set((await chosenContenders(options)).map((contender) => partsOf(contender).peerName))];
const results = {};
const jobs = await importJobs();

await alternate(jobs, {
  rounds: effort.rounds,
  results,
  onResult(job, result) {
    if (result.error !== undefined) {
      console.log(`${job.key}: ${result.error}`);
    }
  },
});
const sizes = await measureSizes();
saveResults("import", { results, sizes });
printReport();

async function importJobs() {
  const found = [];
  for (const peerName of peerNames) {
    const { imports } = await describePeer(peerName);
    found.push(...imports.map((entry) => ({ key: entry.label, run: () => importOnce(peerName, entry) })));
  }
  return found;
}

/** The wall clock of a process that imports the modules and ends. */
function importOnce(peerName, { modules, afterwards = "" }) {
  const imports = modules.map((name) => `import(${JSON.stringify(name)})`).join(", ");
  const code = `const modules = await Promise.all([${imports}]); ${afterwards}
    process.stdout.write(String(process.memoryUsage().rss)); process.exit(0);`;
  const start = nowUs();
  const child = spawnSync(process.execPath, ["--input-type=module", "--eval", code], {
    cwd: partsOf(peerName).folder,
    encoding: "utf8",
    env: quietEnvironment,
  });
  const wallMs = (nowUs() - start) / 1e3;
  if (child.status !== 0) {
    return { error: child.stderr.trim().slice(0, 300) };
  }
  return { wallMs, rssMB: Number(/\d+$/.exec(child.stdout)?.[0]) / 1e6 };
}

async function measureSizes() {
  const found = [];
  for (const peerName of peerNames) {
    const { sizes: entries } = await describePeer(peerName);
    found.push(...entries.map(({ label, packages }) => ({ label, ...installedSize(peerName, packages) })));
  }
  if (peerNames.includes("offstage")) {
    found.push({ label: "offstage", ...packedSize("../packages/offstage") });
  }
  return found;
}

function middle(label, field) {
  return median((results[label] ?? []).map((result) => result[field]));
}

function overBare(label) {
  return differenceOf(middle(label, "wallMs"), middle(BARE, "wallMs"));
}

function printReport() {
  const rows = jobs.map(({ key }) => [
    key,
    shown(middle(key, "wallMs")),
    shownRatio(middle(key, "wallMs"), middle(BARE, "wallMs")),
    shown(overBare(key)),
    shownRatio(overBare(key), overBare(PI)),
    shown(middle(key, "rssMB")),
  ]);
  printTable("Import", ["module", "process ms", "x bare", "ms over bare", "x pi", "rss MB"], rows);
  const sizeRows = sizes.map((size) => [size.label, shown(size.megabytes), shown(size.packages), shown(size.files)]);
  printTable("Installed", ["packages asked for", "MB", "packages", "files"], sizeRows);
  printVerdicts(verdicts());
}

function verdicts() {
  const installed = sizes.find((size) => size.label === "offstage");
  return [
    { ...LIMITS.import, measured: overBare("offstage") },
    { ...LIMITS.packages, measured: installed?.packages },
    { ...LIMITS.megabytes, measured: installed?.megabytes },
  ];
}
