// Runs one measurement of one contender in a process of its own.
import { spawn } from "node:child_process";
import { benchRoot } from "./contenders.mjs";

/** The mark that a worker prints before its one line of JSON. */
export const RESULT_MARK = "@@";

/** The environment of everything measured: no peer may phone home, warn or look for a key. */
export const quietEnvironment = {
  ...process.env,
  OPENAI_API_KEY: "none",
  OPENAI_AGENTS_DISABLE_TRACING: "",
  LANGCHAIN_TRACING_V2: "false",
  LANGSMITH_TRACING: "false",
  MASTRA_TELEMETRY_DISABLED: "1",
  VOLTAGENT_TELEMETRY_DISABLED: "1",
  NODE_NO_WARNINGS: "1",
};

/** The result of `measure` for `contender`, or `{ error }`; never rejects. */
export function runWorker(measure, contender, { params, timeoutMs = 240_000 }) {
  return new Promise((resolve) => {
    const args = ["--expose-gc", "worker.mjs", measure, contender, JSON.stringify(params)];
    const child = spawn(process.execPath, args, { cwd: benchRoot, env: quietEnvironment });
    let output = "";
    let errors = "";
    const timer = setTimeout(() => child.kill("SIGKILL"), timeoutMs);
    child.stdout.on("data", (chunk) => {
      output += chunk;
    });
    child.stderr.on("data", (chunk) => {
      errors += chunk;
    });
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      resolve(resultIn(output) ?? { error: `exit ${code ?? signal}: ${errors.trim().slice(-300)}` });
    });
  });
}

function resultIn(output) {
  const line = output.split("\n").findLast((candidate) => candidate.startsWith(RESULT_MARK));
  return line === undefined ? undefined : JSON.parse(line.slice(RESULT_MARK.length));
}
