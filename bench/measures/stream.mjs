// The cost of a streamed text delta, and the time to the first one.
import { nowUs } from "../lib/clock.mjs";
import { median } from "../lib/statistics.mjs";

const MAX_RUNS = 300;

/** Microseconds per delta and to the first delta: medians over all runs of `measureMs`. */
export async function measureStream(adapter, params) {
  const { deltas = 1000, variant, warmMs = 500, measureMs = 400 } = params;
  const stream = await adapter.stream({ deltas, variant });
  await repeat(warmMs, () => stream.run());
  const times = [];
  const firsts = [];
  await repeat(measureMs, async () => {
    const start = nowUs();
    const { count, firstAtUs } = await stream.run();
    times.push((nowUs() - start) / deltas);
    firsts.push(firstAtUs - start);
    if (count !== deltas) {
      throw new Error(`Expected ${deltas} deltas, got ${count}`);
    }
  });
  return { usPerDelta: median(times), firstDeltaUs: median(firsts), runs: times.length };
}

async function repeat(milliseconds, work) {
  const end = nowUs() + milliseconds * 1e3;
  let runs = 0;
  do {
    await work();
    runs++;
  } while (nowUs() < end && runs < MAX_RUNS);
}
