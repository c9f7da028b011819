// Starts processes that write to a store, kills them, and collects their output.
import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { TurnWriterOptions } from "./turn-writer.ts";

const script = fileURLToPath(new URL("./turn-writer.ts", import.meta.url));

export interface Writer {
  /** Resolves when the first turn was acknowledged or has locked its session, or the process has ended. */
  readonly started: Promise<void>;
  /** Resolves when the process has ended. */
  readonly done: Promise<Written>;
  kill(signal?: NodeJS.Signals): void;
}

export interface Written {
  /** The acknowledged turns. */
  readonly acknowledged: string[];
  /** How often a turn was refused because the session was busy. */
  readonly refused: number;
  readonly signal: string | null;
  readonly errors: string;
}

export function spawnWriter(options: TurnWriterOptions): Writer {
  const env = { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), "offstage-compile-cache"), NODE_OPTIONS: "" };
  const child = spawn(process.execPath, [script, JSON.stringify(options)], { env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  let errors = "";
  child.stderr.on("data", (data: Buffer) => {
    errors += data.toString();
  });
  const started = new Promise<void>((resolve) => {
    child.stdout.on("data", (data: Buffer) => {
      output += data.toString();
      resolve();
    });
    child.once("close", () => resolve());
  });
  const done = new Promise<Written>((resolve) => {
    child.once("close", (_, signal) => {
      const lines = output.split("\n").slice(0, -1);
      const acknowledged = lines.filter((line) => !line.includes(" "));
      const refused = Number(lines.find((line) => line.startsWith("refused "))?.split(" ")[1] ?? 0);
      resolve({ acknowledged, refused, signal, errors });
    });
  });
  return { started, done, kill: (signal = "SIGKILL") => child.kill(signal) };
}

export interface KillWritersOptions {
  readonly kills: number;
  /** Prefix of the writers' names. Default "w". */
  readonly name?: string;
  /** Default "s". */
  readonly sessionId?: string;
}

/**
 * Starts writers on one session, each killed at a random moment while the next is already waiting. Returns all
 * acknowledged turns.
 */
export async function killWriters(url: string, options: KillWritersOptions): Promise<string[]> {
  const { kills, name = "w", sessionId = "s" } = options;
  // A writer that ends normally fills the cache of compiled modules.
  const first = await spawnWriter({ url, sessionId, name: `${name}-first`, turns: 1 }).done;
  const acknowledged = [...first.acknowledged];
  const spawnNext = (n: number): Writer => spawnWriter({ url, sessionId, name: `${name}${n}`, turns: 1_000_000 });
  let next = spawnNext(0);
  for (let n = 0; n < kills; n++) {
    const writer = next;
    if (n + 1 < kills) next = spawnNext(n + 1);
    // Most are killed while writing, some while they open the store.
    if (Math.random() < 0.8) await writer.started;
    await sleep(Math.random() * 50);
    writer.kill();
    const { acknowledged: turns, signal, errors } = await writer.done;
    if (signal !== "SIGKILL") throw new Error(`A writer ended before it was killed: ${errors}`);
    acknowledged.push(...turns);
  }
  return acknowledged;
}
