// The two clocks: a monotonic one for durations, and the time of day as text.

/** Milliseconds with fractions since the process started. Monotonic; use it for durations. */
export function clockMs(): number {
  return performance.now();
}

/** The time of day, as ISO 8601. */
export function isoNow(): string {
  return new Date().toISOString();
}

const maxSkewMs = 5;

/**
 * The number that turns `clockMs()` into epoch milliseconds. Usually the process's start time; if the wall clock has moved
 * since (the machine slept, or the clock was set), it follows the wall clock.
 */
export function clockOffsetMs(now: number = clockMs()): number {
  const offset = Date.now() - now;
  return Math.abs(offset - performance.timeOrigin) > maxSkewMs ? offset : performance.timeOrigin;
}
