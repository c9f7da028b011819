// The time of day as text, made once per millisecond: much happens within one.

/** Now, as ISO 8601. */
export const isoNow: () => string = clock();

function clock(): () => string {
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
