// Alternation: every round measures every job once, and every second round goes backwards, so that a machine that
// slows down or warms up treats all contenders alike.

/** `items` in the order of round `round`. */
export function orderOf(items, round) {
  return round % 2 === 0 ? items : items.toReversed();
}

/**
 * Measures `jobs` for `rounds` rounds: `{ key, run }`, where `run()` gives a result or `{ error }`. Adds the results
 * to `results` by key. A job that failed is not tried again.
 */
export async function alternate(jobs, { rounds, results, onResult }) {
  for (let round = 0; round < rounds; round++) {
    for (const job of orderOf(jobs, round)) {
      const earlier = results[job.key] ?? [];
      if (earlier.some((result) => result.error !== undefined)) {
        continue;
      }
      const result = await job.run();
      results[job.key] = [...earlier, result];
      onResult(job, result, round);
    }
  }
}
