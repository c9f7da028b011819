// The time of day as text, made once per millisecond: steps can be faster than that.

/** Tells the time as text; the same text within a millisecond. */
export class Clock {
  #at = Number.NaN;
  #text = "";

  /** Now, as ISO 8601. */
  now(): string {
    const at = Date.now();
    if (at !== this.#at) {
      this.#at = at;
      this.#text = new Date(at).toISOString();
    }
    return this.#text;
  }
}
