// Sums up the newest CPU profile of a folder: own time by function.
// Usage: node --cpu-prof --cpu-prof-dir=results/profiles worker.mjs loop offstage '{"steps":100}'
//        npm run profile -- results/profiles
import fs from "node:fs";
import path from "node:path";
import { shown } from "./lib/statistics.mjs";
import { printTable } from "./lib/table.mjs";

const SHOWN_FUNCTIONS = 25;

const profile = JSON.parse(fs.readFileSync(newestProfile(process.argv[2] ?? "results/profiles"), "utf8"));
printProfile(ownTimes(profile));

function newestProfile(folder) {
  const files = fs.readdirSync(folder).filter((file) => file.endsWith(".cpuprofile"));
  const byAge = files
    .map((file) => path.join(folder, file))
    .sort((a, b) => fs.statSync(b).mtimeMs - fs.statSync(a).mtimeMs);
  if (byAge.length === 0) {
    throw new Error(`There is no .cpuprofile file in "${folder}"`);
  }
  return byAge[0];
}

/** Microseconds by function. */
function ownTimes({ nodes, samples, timeDeltas }) {
  const places = new Map(nodes.map((node) => [node.id, placeOf(node.callFrame)]));
  const times = new Map();
  for (const [index, nodeId] of samples.entries()) {
    const place = places.get(nodeId);
    times.set(place, (times.get(place) ?? 0) + timeDeltas[index]);
  }
  return times;
}

function placeOf({ functionName, url, lineNumber }) {
  const file = url.split("/").slice(-3).join("/");
  return `${functionName || "(anonymous)"} ${file}:${lineNumber + 1}`;
}

function printProfile(times) {
  const total = [...times.values()].reduce((sum, time) => sum + time, 0);
  const rows = [...times]
    .sort((a, b) => b[1] - a[1])
    .slice(0, SHOWN_FUNCTIONS)
    .map(([place, time]) => [place, shown(time / 1e3), shown((100 * time) / total)]);
  printTable(`Own time by function, ${shown(total / 1e3)} ms in all`, ["function", "ms", "%"], rows);
}
