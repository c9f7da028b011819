// Sightings: for how long a sign of life has been the same, measured here. What the clocks of other machines say does not matter.

/** The sign that was seen last, and when it was first seen so, by `performance.now()`. */
export interface Sighting {
  sign: string;
  since: number;
}

export function noSighting(): Sighting {
  return { sign: "", since: 0 };
}

/** Takes note of a sign, and gives for how long it has been this one as far as was looked from here: 0 where it is new. */
export function watch(sighting: Sighting, sign: string): number {
  const now = performance.now();
  if (sighting.sign !== sign) {
    sighting.sign = sign;
    sighting.since = now;
  }
  return now - sighting.since;
}
