// Measures, by the local clock, for how long a value in the store has not changed. The clocks of other machines do not matter.

/** The value seen last, and when it was first seen, by `performance.now()`. */
export interface Sighting {
  sign: string;
  since: number;
}

export function noSighting(): Sighting {
  return { sign: "", since: 0 };
}

/** Notes the current value, and returns for how many milliseconds it has been the same; 0 if it is new. */
export function watch(sighting: Sighting, sign: string): number {
  const now = performance.now();
  if (sighting.sign !== sign) {
    sighting.sign = sign;
    sighting.since = now;
  }
  return now - sighting.since;
}
