// compactor(): when and how model input is shortened, as one value for an agent. compaction.ts does it in a run.
import { checkOptions, numberFrom, type OptionRules, positiveNumber } from "../../base/options.ts";
import { OffstageError } from "../../errors.ts";
import { listenerRule } from "../option-rules.ts";
import { type OnError, printError } from "../report-error.ts";
import { Compaction, type CompactionOptions } from "./compaction.ts";
import { type CompactionFunction, type CompactionStrategy, strategyOf, strategyRule } from "./compaction-strategy.ts";
import { slidingWindow } from "./strategies/index.ts";

export interface CompactorOptions {
  /** The most tokens of model input; up to 1, a share of the context window. Default 0.8. */
  readonly threshold?: number | undefined;
  /** The context window of the model, in tokens. Required if the threshold is a share. */
  readonly contextWindow?: number | undefined;
  /** The size after shortening, as a share of the threshold. A smaller target makes compactions rarer. Default 0.5. */
  readonly target?: number | undefined;
  /** Default `slidingWindow()`. */
  readonly strategy?: CompactionStrategy | CompactionFunction | undefined;
  /** Called if a strategy fails; the sliding window is used instead. Default: prints a warning. */
  readonly onError?: OnError | undefined;
}

/** A rule for shortening model input. */
export interface Compactor {
  /** The most tokens of model input. */
  readonly limit: number;
  readonly strategy: CompactionStrategy;
  /** Opens the compaction of one conversation, for one run. */
  open(options: CompactionOptions): Compaction;
}

const rules: OptionRules = {
  threshold: positiveNumber,
  contextWindow: numberFrom(1),
  target: { isFit: (value) => typeof value === "number" && value > 0 && value < 1, words: "a number between 0 and 1" },
  strategy: strategyRule,
  onError: listenerRule,
};

/** Makes a compactor. Throws `invalid-argument` if an option does not fit. */
export function compactor(options: CompactorOptions = {}): Compactor {
  checkOptions(options, rules, "compactor()");
  const { target = 0.5, onError = printError } = options;
  const limit = limitOf(options);
  const strategy = strategyOf(options.strategy ?? slidingWindow());
  return Object.freeze({
    limit,
    strategy,
    open: (opening: CompactionOptions) => new Compaction({ limit, target, strategy, onError }, opening),
  });
}

function limitOf({ threshold = 0.8, contextWindow }: CompactorOptions): number {
  if (threshold > 1) return Math.floor(threshold);
  if (contextWindow !== undefined) return Math.floor(threshold * contextWindow);
  const sentence = 'A "threshold" up to 1 is a share of the context window: also pass "contextWindow", in tokens.';
  throw new OffstageError("invalid-argument", sentence);
}
