// The tables and verdicts of the loop measurement.
import {
  CONCURRENCY_LIMIT,
  GROWTH_LIMIT,
  HEAP_LIMIT_MB,
  LOOP_LIMITS,
  REFERENCE_PI_LOOP,
} from "./performance-targets.mjs";
import { median, ratioOf, shown, shownRatio } from "./statistics.mjs";
import { printTable } from "./table.mjs";
import { printVerdicts } from "./verdicts.mjs";

const PI = "pi-mariozechner";

/** Prints everything the loop measurement found; `results` are lists of results by job key. */
export function printLoopReport({ contenders, steps, grownSteps, results }) {
  const figures = figuresOf(results);
  for (const tracing of ["off", "on"]) {
    printSteps(figures, { contenders, steps, tracing });
  }
  printHeap(figures, contenders);
  printGrowth(figures, { contenders, grownSteps });
  printConcurrency(figures, contenders);
  printVerdicts(verdictsOf(figures, { contenders, grownSteps }));
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

function verdictsOf(figures, { contenders, grownSteps }) {
  return [
    ...stepVerdicts(figures, "off"),
    ...aheadOfPi(figures),
    ...stepVerdicts(figures, "on"),
    ...aheadOfOthers(figures, contenders),
    ...ratioVerdicts(figures, grownSteps),
  ];
}

function stepVerdicts(figures, tracing) {
  return Object.entries(LOOP_LIMITS[tracing]).flatMap(([kind, limits]) =>
    Object.entries(limits).map(([steps, limit]) => ({
      promise: `step, tracing ${tracing}, K=${steps}`,
      kind,
      limit,
      unit: "µs",
      measured: figures.usPerStep("offstage", steps, tracing),
      bare: figures.usPerStep("bare", steps, tracing),
      pi: figures.usPerStep(PI, steps, "off"),
      referencePi: REFERENCE_PI_LOOP[steps],
    })),
  );
}

function aheadOfPi(figures) {
  return Object.keys(REFERENCE_PI_LOOP).map((steps) => ({
    promise: `ahead of pi, tracing off, K=${steps}`,
    kind: "must",
    limit: 1,
    strict: true,
    unit: "x",
    measured: ratioOf(figures.usPerStep("offstage", steps, "off"), figures.usPerStep(PI, steps, "off")),
  }));
}

/** Our tracing on against the fastest tracing off of everybody but pi. */
function aheadOfOthers(figures, contenders) {
  const others = contenders.filter((contender) => !/^(bare|offstage|pi-)/.test(contender));
  return Object.keys(REFERENCE_PI_LOOP).map((steps) => {
    const fastest = fastestOf(others.map((contender) => figures.usPerStep(contender, steps, "off")));
    return {
      promise: `tracing on, ahead of others' off, K=${steps}`,
      kind: "must",
      limit: 1,
      strict: true,
      unit: "x",
      measured: ratioOf(figures.usPerStep("offstage", steps, "on"), fastest),
    };
  });
}

function fastestOf(values) {
  const measured = values.filter((value) => value !== undefined);
  return measured.length === 0 ? undefined : Math.min(...measured);
}

function ratioVerdicts(figures, grownSteps) {
  const growthOf = (contender) =>
    ratioOf(figures.usPerStep(contender, grownSteps, "off"), figures.usPerStep(contender, 100, "off"));
  const crowdingOf = (contender) => ratioOf(figures.atOnce(contender), figures.alone(contender));
  return [
    {
      promise: `step at K=${grownSteps} against K=100`,
      kind: "must",
      limit: GROWTH_LIMIT,
      unit: "x",
      measured: growthOf("offstage"),
      bare: growthOf("bare"),
    },
    {
      promise: "heap kept after K=1000, tracing on",
      kind: "goal",
      limit: HEAP_LIMIT_MB,
      unit: "MB",
      measured: figures.heapMB("offstage", "on"),
      bare: figures.heapMB("bare", "on"),
      pi: figures.heapMB(PI, "off"),
    },
    {
      promise: "step with 1,000 runs at once against one",
      kind: "must",
      limit: CONCURRENCY_LIMIT,
      unit: "x",
      measured: crowdingOf("offstage"),
      bare: crowdingOf("bare"),
    },
  ];
}
