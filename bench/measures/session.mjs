// The cost of a turn (one tool call, then the answer) as one session grows, and what it leaves on disk.
import fs from "node:fs";
import path from "node:path";
import { nowUs } from "../lib/clock.mjs";
import { benchRoot } from "../lib/contenders.mjs";
import { takeToolCalls, userText } from "../lib/script.mjs";
import { median } from "../lib/statistics.mjs";

const WARM_TURNS = 15;

/** Milliseconds per turn around turns 10, 100 and the last; medians over eleven turns each. */
export async function measureSession(adapter, params) {
  const { turns = 200, store = "memory", variant } = params;
  const folder = temporaryFolder();
  try {
    await warmUp(adapter, { store, folder: path.join(folder, "warm"), variant });
    return await measureTurns(adapter, { turns, store, folder: path.join(folder, "main"), variant });
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

function temporaryFolder() {
  const parent = path.join(benchRoot, "results", "databases");
  fs.mkdirSync(parent, { recursive: true });
  return fs.mkdtempSync(path.join(parent, "session-"));
}

async function warmUp(adapter, options) {
  const session = await adapter.session(options);
  for (let turn = 0; turn < WARM_TURNS; turn++) {
    await session.turn(userText(turn));
  }
  await session.close?.();
  takeToolCalls();
  globalThis.gc?.();
}

async function measureTurns(adapter, { turns, ...options }) {
  const session = await adapter.session(options);
  const times = await timeTurns(session, turns);
  const items = await session.history?.();
  const longestPrompt = session.longestPrompt?.();
  globalThis.gc?.();
  const memory = process.memoryUsage();
  await session.close?.();
  return {
    msAt10: around(times, 10),
    msAt100: around(times, 100),
    msAtEnd: around(times, turns),
    totalMs: times.reduce((total, time) => total + time, 0),
    items,
    longestPrompt,
    bytes: bytesIn(options.folder),
    heapMB: memory.heapUsed / 1e6,
    rssMB: memory.rss / 1e6,
  };
}

async function timeTurns(session, turns) {
  const times = [];
  for (let turn = 0; turn < turns; turn++) {
    const start = nowUs();
    const answer = await session.turn(userText(turn));
    times.push((nowUs() - start) / 1e3);
    if (!String(answer).startsWith(`Answer ${turn}:`)) {
      throw new Error(`Turn ${turn} got a wrong answer: ${answer}`);
    }
  }
  const toolCalls = takeToolCalls();
  if (toolCalls !== turns) {
    throw new Error(`Expected ${turns} tool calls, got ${toolCalls}`);
  }
  return times;
}

function around(times, turn) {
  return median(times.slice(Math.max(0, turn - 6), turn + 5));
}

function bytesIn(folder) {
  if (!fs.existsSync(folder)) {
    return 0;
  }
  const files = fs.readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((total, file) => total + fs.statSync(path.join(file.parentPath, file.name)).size, 0);
}
