// Clips old tool results first, which needs no model, and summarises only if that is not enough.
import { checkOptions, wholeFrom } from "../../../base/options.ts";
import type { AnyModel } from "../../../models/model.ts";
import { summarizeRule } from "../../option-rules.ts";
import type { CompactionStrategy } from "../compaction-strategy.ts";
import { pruneResults, summarizeRest } from "../shorten.ts";
import { type Summarize, summarizerOf } from "../summarize.ts";

export interface HybridOptions {
  /** The summariser: a function or a model. Default: the agent's own model. */
  readonly summarize?: Summarize | AnyModel | undefined;
  /** How many of the newest blocks keep their results. A block is a message, or calls with their results. Default 4. */
  readonly keepBlocks?: number | undefined;
  /** The most tokens of a clipped result. Default 40. */
  readonly resultTokens?: number | undefined;
}

const rules = { summarize: summarizeRule, keepBlocks: wholeFrom(0), resultTokens: wholeFrom(0) };

/** Clips old results. If that is not enough, keeps the newest whole turns and summarises the rest. */
export function hybrid(options: HybridOptions = {}): CompactionStrategy {
  checkOptions(options, rules, "hybrid()");
  const { keepBlocks = 4, resultTokens = 40 } = options;
  const summarize = options.summarize && summarizerOf(options.summarize);
  return {
    name: "hybrid",
    async compact(input) {
      const { summary, budget, counter } = input;
      const messages = pruneResults(input, { keepBlocks, resultTokens });
      if (counter.countMessages(messages) + counter.countMessages(summary) <= budget) return { summary, messages };
      return summarizeRest(input, { summarize, keepShare: 0.6, summaryShare: 0.3 });
    },
  };
}
