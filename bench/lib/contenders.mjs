// The contenders. A contender is a folder in peers/, with an optional variant: "langgraph", "langgraph:raw".
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

export const benchRoot = path.resolve(import.meta.dirname, "..");

/** The contenders of a quick run: the limit, the two fastest peers, and ours. */
export const QUICK_CONTENDERS = ["bare", "pi-mariozechner", "ai-sdk", "offstage"];

export const ALL_CONTENDERS = [
  "bare",
  "pi-mariozechner",
  "ai-sdk",
  "strands",
  "openai-agents",
  "langgraph:raw",
  "langgraph",
  "voltagent",
  "mastra",
  "offstage",
];

/** The folder and the variant of a contender. */
export function partsOf(contender) {
  const [peerName, variant] = contender.split(":");
  return { peerName, variant, folder: path.join(benchRoot, "peers", peerName) };
}

/** The description of a contender's peer, in peers/<name>/peer.mjs. Loads nothing of the peer itself. */
export async function describePeer(contender) {
  const { folder } = partsOf(contender);
  const { peer } = await import(pathToFileURL(path.join(folder, "peer.mjs")).href);
  return peer;
}

/** The adapter of a contender; loads the peer. */
export function loadAdapter(contender) {
  const { folder } = partsOf(contender);
  return import(pathToFileURL(path.join(folder, "adapter.mjs")).href);
}

/** Those of `contenders` that can run here; for each other one, a line that says what to do. */
export async function readyContenders(contenders) {
  const ready = [];
  for (const contender of contenders) {
    const obstacle = await obstacleOf(contender);
    if (obstacle === undefined) {
      ready.push(contender);
    } else {
      console.log(`${contender} is left out: ${obstacle}`);
    }
  }
  return ready;
}

async function obstacleOf(contender) {
  const { peerName, folder } = partsOf(contender);
  if (!fs.existsSync(path.join(folder, "peer.mjs"))) {
    return `there is no peers/${peerName}/peer.mjs`;
  }
  const { builtFile } = await describePeer(contender);
  if (builtFile !== undefined && !fs.existsSync(path.join(benchRoot, builtFile))) {
    return `"${builtFile}" is not built; run "npm run build" at the root of the repository`;
  }
  return isInstalled(peerName) ? undefined : `not installed; run "npm run setup -- ${peerName}"`;
}

/** Whether every direct dependency of a peer is in its folder. */
export function isInstalled(peerName) {
  const { folder } = partsOf(peerName);
  return Object.keys(dependenciesOf(peerName)).every((name) => fs.existsSync(path.join(folder, "node_modules", name)));
}

/** The direct dependencies of a peer, by name, with their exact versions. */
export function dependenciesOf(peerName) {
  const { folder } = partsOf(peerName);
  const manifest = JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8"));
  return manifest.dependencies ?? {};
}
