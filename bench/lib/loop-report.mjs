// The tables and verdicts of the loop measurement.
import { LIMITS } from "./performance-targets.mjs";
import { median, ratioOf, shown, shownRatio } from "./statistics.mjs";
import { printTable } from "./table.mjs";
import { printVerdicts } from "./verdicts.mjs";

const PI = "pi-mariozechner";
const LIMITED_STEPS = [100, 1000];

/** Prints everything the loop measurement found; `results` are lists of results by job key. */
export function printLoopReport({ contenders, steps, grownSteps, results }) {
  const figures = figuresOf(results);
  for (const tracing of ["off", "on"]) {
    printSteps(figures, { contenders, steps, tracing });
  }
  printHeap(figures, contenders);
  printGrowth(figures, { contenders, grownSteps });
  printConcurrency(figures, contenders);
  printVerdicts(verdictsOf(figures, grownSteps));
}

/** Medians by contender; `undefined` for what was not measured. */
function figuresOf(results) {
  const middle = (key, field) => median((results[key] ?? []).map(field));
  return {
    usPerStep: (contender, steps, tracing) => middle(`${contender}|${steps}|${tracing}`, (result) => result.usPerStep),
    heapMB: (contender, tracing) => middle(`${contender}|1000|${tracing}`, (result) => result.heap?.retainedMB),
    alone: (contender) => middle(`${contender}|concurrency`, (result) => result.aloneUsPerStep),
    atOnce: (contender) => middle(`${contender}|concurrency`, (result) => result.atOnceUsPerStep),
  };
}

function printSteps(figures, { contenders, steps, tracing }) {
  const cell = (contender, count) => {
    const us = figures.usPerStep(contender, count, tracing);
    const bare = figures.usPerStep("bare", count, tracing);
    return us === undefined ? "-" : `${shown(us)} (${shownRatio(us, bare)})`;
  };
  const rows = contenders
    .map((contender) => [contender, ...steps.map((count) => cell(contender, count))])
    .filter((row) => row.some((text, column) => column > 0 && text !== "-"));
  const title = `µs per step, tracing ${tracing} (ratio to bare with tracing ${tracing})`;
  printTable(title, ["contender", ...steps.map((count) => `K=${count}`)], rows);
}

function printHeap(figures, contenders) {
  const rows = contenders.map((contender) => [
    contender,
    shown(figures.heapMB(contender, "off")),
    shown(figures.heapMB(contender, "on")),
  ]);
  printTable("Retained heap after K=1000, MB", ["contender", "tracing off", "tracing on"], rows);
}

function printGrowth(figures, { contenders, grownSteps }) {
  const rows = contenders
    .map((contender) => [contender, ...[100, grownSteps].map((steps) => figures.usPerStep(contender, steps, "off"))])
    .filter(([, , grown]) => grown !== undefined)
    .map(([contender, base, grown]) => [contender, shown(base), shown(grown), shownRatio(grown, base)]);
  printTable("µs per step as a run grows, tracing off", ["contender", "K=100", `K=${grownSteps}`, "ratio"], rows);
}

function printConcurrency(figures, contenders) {
  const rows = contenders
    .map((contender) => [contender, figures.alone(contender), figures.atOnce(contender)])
    .filter(([, , atOnce]) => atOnce !== undefined)
    .map(([contender, alone, atOnce]) => [contender, shown(alone), shown(atOnce), shownRatio(atOnce, alone)]);
  const title = "µs per step of runs of 10 steps, one after another and 1,000 at once";
  printTable(title, ["contender", "one run", "1,000 runs", "ratio"], rows);
}

function verdictsOf({ usPerStep, heapMB }, grownSteps) {
  const off = (contender, steps) => usPerStep(contender, steps, "off");
  const on = (contender, steps) => usPerStep(contender, steps, "on");
  return [
    ...atSteps(LIMITS.step, (steps) => ratioOf(off("offstage", steps), off(PI, steps))),
    ...atSteps(LIMITS.tracing, (steps) => ratioOf(on("offstage", steps), off("offstage", steps))),
    { ...LIMITS.stepGrowth, measured: ratioOf(off("offstage", grownSteps), off("offstage", 100)) },
    { ...LIMITS.heap, measured: heapMB("offstage", "on") },
  ];
}

function atSteps(limit, measure) {
  return LIMITED_STEPS.map((steps) => ({
    ...limit,
    promise: `${limit.promise}, K=${steps}`,
    measured: measure(steps),
  }));
}
