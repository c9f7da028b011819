// Many runs at once in one process against the same runs one after another, per step.
import { nowUs } from "../lib/clock.mjs";
import { FINAL_TEXT, takeToolCalls } from "../lib/script.mjs";
import { median } from "../lib/statistics.mjs";
import { warmUp } from "./loop.mjs";

/** Microseconds per step of `runs` runs of one agent, alone and at once, alternating within the process. */
export async function measureConcurrency(adapter, params) {
  const { runs = 1000, steps = 10, rounds = 5, tracing = false, variant, warmMs = 400 } = params;
  await warmUp(adapter, { tracing, variant, warmMs });
  const { run } = await adapter.loop({ steps, tracing, variant, overlapping: true });
  const alone = [];
  const atOnce = [];
  for (let round = 0; round <= rounds; round++) {
    const aloneUs = await timed(() => oneAfterAnother(run, runs), { runs, steps });
    const atOnceUs = await timed(() => allAtOnce(run, runs), { runs, steps });
    if (round > 0) {
      alone.push(aloneUs);
      atOnce.push(atOnceUs);
    }
  }
  return { aloneUsPerStep: median(alone), atOnceUsPerStep: median(atOnce) };
}

async function oneAfterAnother(run, runs) {
  const results = [];
  for (let index = 0; index < runs; index++) {
    results.push(await run());
  }
  return results;
}

function allAtOnce(run, runs) {
  return Promise.all(Array.from({ length: runs }, () => run()));
}

async function timed(work, { runs, steps }) {
  globalThis.gc?.();
  const start = nowUs();
  const results = await work();
  const usPerStep = (nowUs() - start) / (runs * (steps + 1));
  const toolCalls = takeToolCalls();
  if (toolCalls !== runs * steps || results.some((result) => result.text !== FINAL_TEXT)) {
    throw new Error(`Expected ${runs} complete runs of ${steps} tool calls, got ${toolCalls} tool calls`);
  }
  return usPerStep;
}
