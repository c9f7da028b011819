// The time of day, and its relation to the monotonic clock that durations are measured with, `performance.now()`.

// To format a date takes 0.6 µs, and a step needs three: within one millisecond the text is used again.
let latest = { ms: Number.NaN, text: "" };

/** The time of day, as ISO 8601. */
export function isoNow(): string {
  const ms = Date.now();
  if (ms !== latest.ms) latest = { ms, text: new Date(ms).toISOString() };
  return latest.text;
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
