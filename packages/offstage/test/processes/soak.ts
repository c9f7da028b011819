// A soak test: many turns of one agent on one SQLite session, measuring heap and time per turn.
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Agent, sqliteStore } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { calls, echo, echoing } from "../support/cast.ts";

export interface SoakOptions {
  /** How many messages `agent.messages` keeps. The default is reached only after about 500 turns. */
  readonly keepMessages?: number;
}

export interface Soaked {
  /** Heap growth in bytes per turn, by least squares. */
  readonly slope: number;
  /** Median milliseconds per turn, in the first and in the last tenth. */
  readonly earlyMs: number;
  readonly lateMs: number;
}

const samples = 20;

/** Plays this many turns, each with a tool call and an answer. Samples the heap from the second quarter on. */
export async function soak(folder: string, turns: number, options: SoakOptions = {}): Promise<Soaked> {
  await using store = sqliteStore({ path: join(folder, `soak-${turns}.db`) });
  const session = store.session("soak");
  const script = ({ messages }: { messages: readonly { role: string }[] }) =>
    messages.at(-1)?.role === "user" ? calls(echoing("a")) : "It said a.";
  const agent = new Agent({ model: scriptedModel(script, { record: false }), tools: [echo], ...options });
  const heap: [turn: number, bytes: number][] = [];
  const times: number[] = [];
  const warm = Math.floor(turns / 4);
  for (let turn = 0; turn < turns; turn++) {
    const before = performance.now();
    await agent.run(`Question ${turn}`, { session });
    times.push(performance.now() - before);
    if (turn >= warm && (turn - warm) % Math.floor((turns - warm) / samples) === 0) heap.push([turn, heapUsed()]);
  }
  const tenth = Math.max(10, Math.floor(turns / 10));
  return { slope: slopeOf(heap), earlyMs: median(times.slice(10, 10 + tenth)), lateMs: median(times.slice(-tenth)) };
}

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

function heapUsed(): number {
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

function slopeOf(points: readonly (readonly [number, number])[]): number {
  const mean = (pick: 0 | 1) => points.reduce((sum, point) => sum + point[pick], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const above = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0);
  return above / points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
}

/** Formats the result of a soak test as one line. */
export function shown(turns: number, { slope, earlyMs, lateMs }: Soaked): string {
  const heap = `${slope.toFixed(0)} B of heap per turn`;
  return `${turns} turns: ${heap}; a turn takes ${earlyMs.toFixed(2)} ms early, ${lateMs.toFixed(2)} ms late\n`;
}
