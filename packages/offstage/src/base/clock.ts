// The time of day, and its relation to the monotonic clock that durations are measured with, `performance.now()`.

/** The time of day, as ISO 8601. */
export function isoNow(): string {
  return new Date().toISOString();
}

const maxSkewMs = 5;

/**
 * The number that turns `performance.now()` into epoch milliseconds. Usually the process's start time; if the wall clock has moved
 * since (the machine slept, or the clock was set), it follows the wall clock.
 */
export function clockOffsetMs(now: number = performance.now()): number {
  const offset = Date.now() - now;
  return Math.abs(offset - performance.timeOrigin) > maxSkewMs ? offset : performance.timeOrigin;
}
