// Clips old tool results first, which costs nothing, and summarises only where that is not enough.
import type { AnyModel } from "../../../models/model.ts";
import type { CompactionStrategy } from "../compaction-strategy.ts";
import { pruned, summarized } from "../shorten.ts";
import { type Summarize, summarizerOf } from "../summarize.ts";

export interface HybridOptions {
  /** Who summarises: a function or a model. Default: the agent's own model. */
  readonly summarize?: Summarize | AnyModel;
  /** How many of the newest messages, a call with its results counted once, keep their results. Default 4. */
  readonly keepBlocks?: number;
  /** What is left of an old result, in tokens. Default 40. */
  readonly resultTokens?: number;
}

/** Old results clipped; where that is not enough, a summary of what is older, then the newest whole turns. */
export function hybrid(options: HybridOptions = {}): CompactionStrategy {
  const { keepBlocks = 4, resultTokens = 40 } = options;
  const summarize = options.summarize && summarizerOf(options.summarize);
  return {
    name: "hybrid",
    compact(input) {
      const { summary, budget, counter } = input;
      const messages = pruned(input, { keepBlocks, resultTokens });
      if (counter.countMessages(messages) + counter.countMessages(summary) <= budget) return { summary, messages };
      return summarized(input, { summarize, keepShare: 0.6, summaryShare: 0.3 });
    },
  };
}
