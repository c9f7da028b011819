// The time of day, and its offset from `performance.now()`, the monotonic clock for durations.

// Formatting a date takes 0.6 µs, and a step needs three dates, so the text is reused within one millisecond.
let latest = { ms: Number.NaN, text: "" };

/** The time of day, as ISO 8601. */
export function isoNow(): string {
  const ms = Date.now();
  if (ms !== latest.ms) latest = { ms, text: new Date(ms).toISOString() };
  return latest.text;
}

const maxSkewMs = 5;

/**
 * The number to add to `performance.now()` to get epoch milliseconds. Usually the start time of the process; if the wall clock has
 * moved since (the machine slept, or the clock was set), it follows the wall clock.
 */
export function clockOffsetMs(now: number = performance.now()): number {
  const offset = Date.now() - now;
  return Math.abs(offset - performance.timeOrigin) > maxSkewMs ? offset : performance.timeOrigin;
}
