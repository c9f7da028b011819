// Keeps the newest turns and adds the rest to the summary.
import { checkOptions } from "../../../base/options.ts";
import type { AnyModel } from "../../../models/model.ts";
import { shareRule, summarizeRule } from "../../option-rules.ts";
import type { CompactionStrategy } from "../compaction-strategy.ts";
import { summarizeRest } from "../shorten.ts";
import { type Summarize, summarizerOf } from "../summarize.ts";

export interface SummarizeOlderOptions {
  /** The summariser: a function or a model. Default: the agent's own model. */
  readonly summarize?: Summarize | AnyModel | undefined;
  /** The share of the budget for messages that stay unchanged. Default 0.6. */
  readonly keepShare?: number | undefined;
  /** The share of the budget for the summary. Default 0.3. */
  readonly summaryShare?: number | undefined;
}

const rules = { summarize: summarizeRule, keepShare: shareRule, summaryShare: shareRule };

/** Keeps the newest whole turns and summarises the older ones. */
export function summarizeOlder(options: SummarizeOlderOptions = {}): CompactionStrategy {
  checkOptions(options, rules, "summarizeOlder()");
  const { keepShare = 0.6, summaryShare = 0.3 } = options;
  const summarize = options.summarize && summarizerOf(options.summarize);
  return { name: "summarizeOlder", compact: (input) => summarizeRest(input, { summarize, keepShare, summaryShare }) };
}
