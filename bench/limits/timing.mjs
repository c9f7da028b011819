// Ways to time a piece of work, and a sink that keeps the engine from leaving it out.

const sunk = { total: 0 };

/** Uses a number, so that the work behind it can't be optimised away. */
export function sink(number) {
  sunk.total += number;
}

/** How often a second `work(index)` can be done, from `count` times. */
export function perSecond(count, work) {
  const start = performance.now();
  for (let index = 0; index < count; index++) {
    work(index);
  }
  return count / ((performance.now() - start) / 1e3);
}

/** The milliseconds of `work()`, whose number is used. */
export function milliseconds(work) {
  const start = performance.now();
  sink(work());
  return performance.now() - start;
}

/** MB per second of `work()` on so many bytes. */
export function megabytesPerSecond(bytes, work) {
  return bytes / 1e6 / (milliseconds(work) / 1e3);
}

/** Nanoseconds for each of `count` items of one piece of asynchronous work, whose number is used. */
export async function nanosecondsEach(count, work) {
  const start = performance.now();
  sink(await work(count));
  return ((performance.now() - start) * 1e6) / count;
}
