// Medians and rounding.

/** The median of the numbers in `values`; `undefined` if there is none. */
export function median(values) {
  const sorted = values.filter((value) => Number.isFinite(value)).sort((a, b) => a - b);
  if (sorted.length === 0) {
    return undefined;
  }
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** A number for a table: three significant digits below a hundred, whole above; a dash for nothing. */
export function shown(value) {
  if (value === undefined || value === null || Number.isNaN(value)) {
    return "-";
  }
  if (Math.abs(value) >= 100) {
    return Math.round(value).toLocaleString("en-US");
  }
  return String(Number(value.toPrecision(3)));
}

/** `value` over `base` for a table, such as `3.2x`. */
export function shownRatio(value, base) {
  const ratio = ratioOf(value, base);
  return ratio === undefined ? "-" : `${shown(ratio)}x`;
}

/** `value` minus `base`; `undefined` if either is missing. */
export function differenceOf(value, base) {
  return value === undefined || base === undefined ? undefined : value - base;
}

/** `value` over `base`; `undefined` if either is missing. */
export function ratioOf(value, base) {
  return value === undefined || base === undefined || base === 0 ? undefined : value / base;
}
