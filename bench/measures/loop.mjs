// The cost of an agent's step: runs of `steps` tool calls and a final answer, and the heap one such run keeps.
import { nowUs } from "../lib/clock.mjs";
import { FINAL_TEXT, takeToolCalls } from "../lib/script.mjs";
import { median } from "../lib/statistics.mjs";

const WARM_STEPS = 20;
const MAX_WARM_RUNS = 2000;
const MAX_RUNS = 100_000;

/** Microseconds per step (model calls are counted, so `steps + 1`), the median over all runs of `measureMs`. */
export async function measureLoop(adapter, params) {
  const { steps, tracing = false, variant, warmMs = 400, measureMs = 400, heap = false } = params;
  await warmUp(adapter, { tracing, variant, warmMs });
  const loop = await adapter.loop({ steps, tracing, variant });
  const heapBefore = heapAfterGc();
  const { usPerStep, runs, last } = await timeRuns(loop, { steps, measureMs });
  return {
    usPerStep,
    runs,
    spans: last.spans ?? 0,
    heap: heap ? heapOf(last, heapBefore) : undefined,
  };
}

/** Makes the engine compile what is measured, on a small number of steps, so that all sizes are compared hot. */
export async function warmUp(adapter, { tracing, variant, warmMs }) {
  const loop = await adapter.loop({ steps: WARM_STEPS, tracing, variant });
  const end = nowUs() + warmMs * 1e3;
  let runs = 0;
  do {
    await loop.run();
    await loop.between?.();
    runs++;
  } while (nowUs() < end && runs < MAX_WARM_RUNS);
  await loop.dispose?.();
  takeToolCalls();
}

async function timeRuns(loop, { steps, measureMs }) {
  const times = [];
  const end = nowUs() + measureMs * 1e3;
  let last;
  do {
    const start = nowUs();
    last = await loop.run();
    times.push((nowUs() - start) / (steps + 1));
    checkRun(last, steps);
    await loop.between?.();
  } while (nowUs() < end && times.length < MAX_RUNS);
  return { usPerStep: median(times), runs: times.length, last };
}

function checkRun(result, steps) {
  const toolCalls = takeToolCalls();
  if (toolCalls !== steps) {
    throw new Error(`Expected ${steps} tool calls, got ${toolCalls}`);
  }
  if (result.text !== FINAL_TEXT) {
    throw new Error(`Expected the final text "${FINAL_TEXT}", got ${JSON.stringify(result.text)}`);
  }
}

/** The heap after the last run, while its result is held in `last`, as a user would hold it. */
function heapOf(last, heapBefore) {
  const beforeGc = process.memoryUsage().heapUsed;
  const afterGc = heapAfterGc();
  return {
    retainedMB: (afterGc - heapBefore) / 1e6,
    beforeGcMB: beforeGc / 1e6,
    maxRssMB: process.resourceUsage().maxRSS / 1e3,
    holds: Object.keys(last).length,
  };
}

function heapAfterGc() {
  globalThis.gc?.();
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
