// Time for measuring, from the monotonic clock.

/** Now, in microseconds. */
export function nowUs() {
  return Number(process.hrtime.bigint()) / 1e3;
}

/** Counts streamed deltas and remembers when the first one came. */
export function deltaCounter() {
  return {
    count: 0,
    firstAtUs: undefined,
    add() {
      if (this.count++ === 0) {
        this.firstAtUs = nowUs();
      }
    },
  };
}
