// The time of day as text, made once per millisecond: much happens within one.

let at = Number.NaN;
let text = "";

/** Now, as ISO 8601. */
export function isoNow(): string {
  const now = Date.now();
  if (now !== at) {
    at = now;
    text = new Date(now).toISOString();
  }
  return text;
}
