// The command line over a large record: how long each command takes, beyond a bare Node.
// Usage: node cli.mjs [--sessions 5000] [--rounds 7] [--bin path] [--keep folder]: --keep leaves the record in a folder.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { sqliteStore } from "../packages/offstage/src/sessions/open-store.ts";
import { fillRecord } from "./lib/fill-record.mjs";
import { LIMITS } from "./lib/performance-targets.mjs";
import { median } from "./lib/statistics.mjs";
import { printTable } from "./lib/table.mjs";
import { printVerdicts } from "./lib/verdicts.mjs";

const { values: options } = parseArgs({
  options: {
    sessions: { type: "string", default: "5000" },
    rounds: { type: "string", default: "7" },
    bin: { type: "string", default: fileURLToPath(new URL("../packages/offstage/dist/cli/main.js", import.meta.url)) },
    keep: { type: "string" },
  },
});

const lines = [
  ...[
    "--help",
    "sessions",
    "sessions Customer --all",
    "show session-77",
    "show session-77 --trace",
    "runs",
    "runs --status failed",
  ],
  ...["run last", "why last", "timeline session-77", "tools", "tools session-77", "stats", "stats --by agent,model"],
  ...["grep needle", "inbox", "doctor", "export session-77", "completion bash"],
];

const folder = options.keep ?? fs.mkdtempSync(path.join(os.tmpdir(), "offstage-cli-"));
const file = path.join(folder, "offstage.db");
if (!fs.existsSync(file)) {
  fs.mkdirSync(folder, { recursive: true });
  const store = sqliteStore({ path: file });
  await fillRecord(store, Number(options.sessions));
  await store.close();
}

const times = new Map(lines.map((line) => [line, timeOver([options.bin, ...line.split(" ")])]));
printTable(
  "The command line, milliseconds over a bare Node",
  ["offstage", "ms"],
  [...times].map(([line, ms]) => [line, ms.toFixed(0)]),
);
printVerdicts([
  { ...LIMITS.cliHelp, measured: times.get("--help") },
  { ...LIMITS.cliSessions, measured: times.get("sessions") },
]);
if (options.keep === undefined) fs.rmSync(folder, { recursive: true });

// In turns, since other work on the machine comes and goes.
function timeOver(args) {
  return median(Array.from({ length: Number(options.rounds) }, () => timeOf(args) - timeOf(["-e", "0"])));
}

function timeOf(args) {
  const started = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
  // Nothing waits in this record.
  if (status !== 0 && !args.includes("inbox")) throw new Error(`${args.join(" ")} failed: ${stderr}`);
  return performance.now() - started;
}
