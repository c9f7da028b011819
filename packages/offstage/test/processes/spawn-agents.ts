// Starts processes that run agents, and collects their output until they end or are killed.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AgentJob, AgentReport } from "./agent-worker.ts";

const script = fileURLToPath(new URL("./agent-worker.ts", import.meta.url));

export interface Ended {
  readonly signal: string | null;
  readonly reports: readonly AgentReport[];
  readonly errors: string;
}

/** Performs these jobs in a new process, one after another. */
export function spawnAgents(jobs: readonly AgentJob[]): Promise<Ended> {
  const env = { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), "offstage-compile-cache"), NODE_OPTIONS: "" };
  const child = spawn(process.execPath, [script, JSON.stringify(jobs)], { env, stdio: ["ignore", "pipe", "pipe"] });
  const said = { output: "", errors: "" };
  child.stdout.on("data", (data: Buffer) => {
    said.output += data.toString();
  });
  child.stderr.on("data", (data: Buffer) => {
    said.errors += data.toString();
  });
  return new Promise((resolve) => {
    child.once("close", (_, signal) => {
      const reports = said.output
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line) as AgentReport);
      resolve({ signal, reports, errors: said.errors });
    });
  });
}

/** Counts how often each effect is listed in the file at `path`. */
export function effectsIn(path: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of readFileSync(path, "utf8").split("\n").slice(0, -1)) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
