// Runs programs of examples/ as a user would: each in its own process, without a key, with the built package.
import { execFile, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const examplesFolder: string = fileURLToPath(new URL("../../../../examples/", import.meta.url));
const env = { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: process.env.TMPDIR, NO_COLOR: "1" };

/** Runs one lesson. Rejects on a non-zero exit, with the output in the error message. */
export function runLesson(
  name: string,
  settings: Record<string, string> = {},
): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)(process.execPath, [name], { cwd: examplesFolder, env: { ...env, ...settings } });
}

export interface DemoEnd {
  readonly stdout: string;
  readonly stderr: string;
  readonly signal: string | null;
}

/** Runs the demo on the file at `path`. With `killAt`, kills it as soon as it has printed that text. */
export async function runDemo(path: string, killAt?: string): Promise<DemoEnd> {
  const pace = killAt === undefined ? "0" : "0.5";
  const settings = { ...env, OFFSTAGE_DEMO_DB: path, OFFSTAGE_DEMO_PACE: pace };
  const child = spawn(process.execPath, ["demo.ts"], { cwd: examplesFolder, env: settings });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    if (killAt !== undefined && stdout.includes(killAt)) child.kill("SIGKILL");
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const signal = await new Promise<string | null>((resolve) => child.on("close", (_, ending) => resolve(ending)));
  return { stdout, stderr, signal };
}
