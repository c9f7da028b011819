// Installs the peers: all of them, or those named. Exactly what their lock files say, and no install scripts.
// Usage: npm run setup -- [--quick] [--relock] [peer ...]
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { benchRoot, dependenciesOf, isInstalled, partsOf, QUICK_CONTENDERS } from "./lib/contenders.mjs";

const INSTALL = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
/** After a change of versions in a package.json: writes its lock file anew, without download addresses. */
const RELOCK = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--omit-lockfile-registry-resolved"];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: "boolean", default: false }, relock: { type: "boolean", default: false } },
});
const failed = peersToInstall().filter((peerName) => !install(peerName));
if (failed.length > 0) {
  console.error(`Could not install: ${failed.join(", ")}`);
  process.exitCode = 1;
}

function peersToInstall() {
  const named = values.quick ? QUICK_CONTENDERS : positionals;
  const peerNames = named.length > 0 ? named : fs.readdirSync(path.join(benchRoot, "peers"));
  return peerNames.filter((peerName) => Object.keys(dependenciesOf(peerName)).length > 0);
}

function install(peerName) {
  if (isInstalled(peerName) && positionals.length === 0 && !values.relock) {
    console.log(`${peerName} is installed`);
    return true;
  }
  console.log(`${peerName} ...`);
  const { folder } = partsOf(peerName);
  const { status } = runNpm(values.relock ? RELOCK : INSTALL, folder);
  return status === 0;
}

/** npm under the Node this script runs on: an older Node would silently pick older versions. */
function runNpm(args, cwd) {
  const npm = process.env.npm_execpath;
  if (npm === undefined) {
    throw new Error('Start this with "npm run setup"');
  }
  return spawnSync(process.execPath, [npm, ...args], { cwd, stdio: "inherit" });
}
