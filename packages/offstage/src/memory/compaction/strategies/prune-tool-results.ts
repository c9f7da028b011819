// Clips old tool results and keeps everything else. The model can look results up with recall. Needs no model.
import { checkOptions, wholeFrom } from "../../../base/options.ts";
import type { CompactionStrategy } from "../compaction-strategy.ts";
import { keepWindow, pruneResults } from "../shorten.ts";

export interface PruneToolResultsOptions {
  /** How many of the newest blocks keep their results. A block is a message, or calls with their results. Default 4. */
  readonly keepBlocks?: number | undefined;
  /** The most tokens of a clipped result. Default 40. */
  readonly resultTokens?: number | undefined;
}

const rules = { keepBlocks: wholeFrom(0), resultTokens: wholeFrom(0) };

/** Clips old results, the oldest first, only as many as necessary. If that is not enough, keeps the newest messages. */
export function pruneToolResults(options: PruneToolResultsOptions = {}): CompactionStrategy {
  checkOptions(options, rules, "pruneToolResults()");
  const { keepBlocks = 4, resultTokens = 40 } = options;
  return {
    name: "pruneToolResults",
    async compact(input) {
      const messages = pruneResults(input, { keepBlocks, resultTokens });
      const { summary, budget, counter } = input;
      if (counter.countMessages(messages) + counter.countMessages(summary) <= budget) return { summary, messages };
      return keepWindow({ ...input, messages });
    },
  };
}
