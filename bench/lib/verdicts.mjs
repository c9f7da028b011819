// Prints whether each limit is met.
import { shown } from "./statistics.mjs";
import { printTable } from "./table.mjs";

/** Prints one row for each verdict: `{ promise, limit, unit, measured }`; `measured` is `undefined` if a figure is missing. */
export function printVerdicts(verdicts) {
  printTable("Limits", ["promise", "limit", "measured", "met"], verdicts.map(rowOf));
}

function rowOf({ promise, limit, unit, measured }) {
  if (measured === undefined) {
    return [promise, `<= ${withUnit(limit, unit)}`, "-", "not measured"];
  }
  return [promise, `<= ${withUnit(limit, unit)}`, withUnit(measured, unit), measured <= limit ? "yes" : "NO"];
}

function withUnit(value, unit) {
  return `${shown(value)} ${unit}`.trim();
}
