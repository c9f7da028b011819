// A world for the command line without a terminal: what it writes is kept as text.
import { Readable } from "node:stream";
import type { World } from "../../src/cli/io.ts";
import { runCli } from "../../src/cli/run-cli.ts";

export interface CliOptions {
  readonly width?: number;
  readonly isTerminal?: boolean;
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  readonly input?: string;
  readonly signal?: AbortSignal;
  readonly onOutput?: (text: string) => void;
}

export interface CliResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** The objects that `--json` printed. */
  readonly records: Record<string, unknown>[];
}

/** Runs a command line and returns what it wrote. */
export async function offstage(words: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const written = { out: "", err: "" };
  const sink = (name: "out" | "err") => ({
    write: (text: string) => {
      written[name] += text;
      if (name === "out") options.onOutput?.(text);
    },
    ...(options.isTerminal === true && { isTTY: true, columns: options.width ?? 80 }),
  });
  const world: World = {
    stdin: Readable.from(options.input === undefined ? [] : [options.input]),
    stdout: sink("out"),
    stderr: { ...sink("err"), isTTY: false },
    env: { ...(options.width !== undefined && { COLUMNS: String(options.width) }), ...options.env },
    cwd: options.cwd ?? process.cwd(),
    signal: options.signal ?? new AbortController().signal,
  };
  const code = await runCli(words, world);
  const isJson = words.includes("--json");
  const lines = isJson ? written.out.split("\n").filter((line) => line !== "") : [];
  return { code, ...written, records: lines.map((line) => JSON.parse(line)) };
}
