// The options every measuring script shares.
import { parseArgs } from "node:util";
import { ALL_CONTENDERS, QUICK_CONTENDERS, readyContenders } from "./contenders.mjs";

const EXPECTED_NODE = "v24.21.0";

const OPTIONS = {
  quick: { type: "boolean", default: false },
  peers: { type: "string" },
  rounds: { type: "string" },
};

/** The options of the command line: the shared ones, and those of `more`. */
export function readOptions(more = {}) {
  const { values } = parseArgs({ options: { ...OPTIONS, ...more } });
  warnOfOtherNode();
  return values;
}

/** The contenders that were asked for and can run; `extra` ones come with every default list. */
export function chosenContenders(options, extra = []) {
  const defaults = options.quick ? QUICK_CONTENDERS : ALL_CONTENDERS;
  return readyContenders(options.peers?.split(",") ?? [...defaults, ...extra]);
}

/** How often and how long to measure: more in a full run than in a quick one. */
export function effortOf(options, { quickRounds, fullRounds }) {
  const rounds = options.rounds === undefined ? undefined : Number(options.rounds);
  if (options.quick) {
    return { rounds: rounds ?? quickRounds, warmMs: 300, measureMs: 300 };
  }
  return { rounds: rounds ?? fullRounds, warmMs: 1200, measureMs: 800 };
}

function warnOfOtherNode() {
  if (process.version !== EXPECTED_NODE) {
    console.log(
      `This is Node ${process.version}; the benchmarks expect ${EXPECTED_NODE}. Run "npm ci" at the root first.`,
    );
  }
}
