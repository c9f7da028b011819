// Clips old tool results and keeps everything else: calls stay, what they found is one recall away. Needs no model.
import type { CompactionStrategy } from "../compaction-strategy.ts";
import { pruned, windowed } from "../shorten.ts";

export interface PruneToolResultsOptions {
  /** How many of the newest messages, a call with its results counted once, are left alone. Default 4. */
  readonly keepBlocks?: number;
  /** What is left of an old result, in tokens. Default 40. */
  readonly resultTokens?: number;
}

/** Old results clipped, the oldest first, as many as need be; where that is not enough, the newest of it. */
export function pruneToolResults(options: PruneToolResultsOptions = {}): CompactionStrategy {
  const { keepBlocks = 4, resultTokens = 40 } = options;
  return {
    name: "pruneToolResults",
    compact(input) {
      const messages = pruned(input, { keepBlocks, resultTokens });
      const { summary, budget, counter } = input;
      if (counter.countMessages(messages) + counter.countMessages(summary) <= budget) return { summary, messages };
      return windowed({ ...input, messages });
    },
  };
}
