// Clocks: the time of day as text, and the time that has passed. Both are asked many times in a run.

/** Now, as ISO 8601. Made once per millisecond: much happens within one. */
export const isoNow: () => string = isoClock();

/** Milliseconds since the process began, on a clock that is never set back. */
export const clockNow: () => number = monotonicClock();

function isoClock(): () => string {
  let at = Number.NaN;
  let text = "";
  return () => {
    const now = Date.now();
    if (now !== at) {
      at = now;
      text = new Date(now).toISOString();
    }
    return text;
  };
}

// Looked up once, at the first call: the global is a getter, and loading what is behind it takes longer than the import.
function monotonicClock(): () => number {
  let clock: typeof performance | undefined;
  return () => {
    clock ??= performance;
    return clock.now();
  };
}
