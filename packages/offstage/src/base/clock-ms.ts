// The clock that durations and spans are measured by. The time of day as text is in iso-now.ts.
import process from "node:process";

/** Milliseconds, with fractions, since no moment in particular. Asks one function where `performance.now` asks three. */
export function clockMs(): number {
  const time = process.hrtime();
  return time[0] * 1e3 + time[1] / 1e6;
}

const maxSkewMs = 5;
const originMs = performance.timeOrigin + performance.now() - clockMs();

/**
 * What added to `clockMs()` gives epoch milliseconds, by the wall clock as it was when the process started. `clockMs()`
 * stands still while a machine sleeps: after that, by the wall clock as it is.
 */
export function clockOffsetMs(now: number = clockMs()): number {
  const skew = Date.now() - (originMs + now);
  return Math.abs(skew) > maxSkewMs ? originMs + skew : originMs;
}
