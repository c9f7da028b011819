// compactor(): when and how model input is made shorter, as one value an agent is given. What it does in a run is compaction.ts.
import { OffstageError } from "../../errors.ts";
import { type OnError, printError } from "../report-error.ts";
import { Compaction, type CompactionOptions } from "./compaction.ts";
import { type CompactionFunction, type CompactionStrategy, strategyOf } from "./compaction-strategy.ts";
import { slidingWindow } from "./strategies/index.ts";

export interface CompactorOptions {
  /** The most tokens of model input, or up to 1 a share of the context window. Default 0.8 of it. */
  readonly threshold?: number;
  /** The tokens a model takes at most. Needed where the threshold is a share. */
  readonly contextWindow?: number;
  /** How far it is made shorter, as a share of the threshold: the less, the longer until the next time. Default 0.5. */
  readonly target?: number;
  /** Default `slidingWindow()`. */
  readonly strategy?: CompactionStrategy | CompactionFunction;
  /** Told when a strategy failed and the window was used instead. Default: prints. */
  readonly onError?: OnError;
}

/** A rule for making model input shorter. */
export interface Compactor {
  /** The most tokens of model input. */
  readonly limit: number;
  readonly strategy: CompactionStrategy;
  /** The compaction of one conversation, for as long as a run lasts. */
  open(options: CompactionOptions): Compaction;
}

/** The rule of these options; throws `invalid-argument` where they do not fit. */
export function compactor(options: CompactorOptions = {}): Compactor {
  const { target = 0.5, onError = printError } = options;
  const limit = limitOf(options);
  if (!(target > 0 && target < 1)) throw invalid(`"target" must be between 0 and 1; found ${target}.`);
  const strategy = strategyOf(options.strategy ?? slidingWindow());
  return Object.freeze({
    limit,
    strategy,
    open: (opening: CompactionOptions) => new Compaction({ limit, target, strategy, onError }, opening),
  });
}

function limitOf({ threshold = 0.8, contextWindow }: CompactorOptions): number {
  if (!(threshold > 0)) throw invalid(`"threshold" must be positive; found ${threshold}.`);
  if (threshold > 1) return Math.floor(threshold);
  if (contextWindow === undefined || !(contextWindow >= 1))
    throw invalid('A "threshold" up to 1 is a share of the context window: pass "contextWindow" in tokens as well.');
  return Math.floor(threshold * contextWindow);
}

function invalid(message: string): OffstageError {
  return new OffstageError("invalid-argument", message);
}
