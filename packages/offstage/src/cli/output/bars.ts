// Bars and spark lines: numbers as lengths and heights, in characters that every terminal font has.

const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
const heights = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/** A bar of at most `width` columns for a value between 0 and `most`. A value above 0 is never empty. */
export function bar(value: number, most: number, width: number): string {
  if (!(value > 0) || !(most > 0)) return "";
  const steps = Math.max(1, Math.round((Math.min(value, most) / most) * width * 8));
  return `${"█".repeat(Math.floor(steps / 8))}${eighths[steps % 8]}`;
}

/** The values as heights, one column each. */
export function sparkline(values: readonly number[]): string {
  const most = Math.max(0, ...values);
  return values
    .map((value) => (value <= 0 || most === 0 ? " " : (heights[Math.min(7, Math.ceil((value / most) * 8) - 1)] ?? "█")))
    .join("");
}
