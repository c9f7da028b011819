// Says of every "must" and "goal" whether it is met: by the absolute figure, and relative to pi in the same run.
import { ratioOf, shown, shownRatio } from "./statistics.mjs";
import { printTable } from "./table.mjs";

const EXPLANATION = `
The limits are figures of the reference machine (two shared cores, Node 24.21). On any other machine, or a busy one,
"met" says little: read "x bare" and "x pi", which come from this run. "met by pi" compares the ratio to pi with what
that ratio may be on the reference machine.`;

/**
 * Prints one row for each verdict: `{ promise, kind, limit, unit, measured, strict?, bare?, pi?, referencePi? }`.
 * `strict` means below the limit, not at it.
 */
export function printVerdicts(verdicts) {
  const headers = ["promise", "kind", "limit", "measured", "met", "x bare", "x pi", "x pi allowed", "met by pi"];
  printTable("Must and goal", headers, verdicts.map(rowOf));
  console.log(EXPLANATION);
}

function rowOf(verdict) {
  const { promise, kind, limit, unit, measured, strict = false, bare, pi, referencePi } = verdict;
  const ratioToPi = ratioOf(measured, pi);
  const allowedRatio = ratioOf(limit, referencePi);
  return [
    promise,
    kind,
    `${strict ? "<" : "<="} ${shown(limit)} ${unit}`,
    measured === undefined ? "-" : `${shown(measured)} ${unit}`,
    verdictOf(measured, limit, strict),
    shownRatio(measured, bare),
    shownRatio(measured, pi),
    allowedRatio === undefined ? "-" : `${shown(allowedRatio)}x`,
    ratioToPi === undefined || allowedRatio === undefined ? "-" : verdictOf(ratioToPi, allowedRatio, strict),
  ];
}

function verdictOf(measured, limit, strict) {
  if (measured === undefined) {
    return "not measured";
  }
  return measured < limit || (!strict && measured === limit) ? "yes" : "NO";
}
