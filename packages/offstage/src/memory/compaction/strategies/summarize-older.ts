// Keeps the newest turns and summarises the rest, on top of the summary there was.
import type { AnyModel } from "../../../models/model.ts";
import type { CompactionStrategy } from "../compaction-strategy.ts";
import { summarized } from "../shorten.ts";
import { type Summarize, summarizerOf } from "../summarize.ts";

export interface SummarizeOlderOptions {
  /** Who summarises: a function or a model. Default: the agent's own model. */
  readonly summarize?: Summarize | AnyModel;
  /** The share of the room for messages that stay as they are. Default 0.6. */
  readonly keepShare?: number;
  /** The share of the room for the summary. Default 0.3. */
  readonly summaryShare?: number;
}

/** A summary of what is older, then the newest whole turns. */
export function summarizeOlder(options: SummarizeOlderOptions = {}): CompactionStrategy {
  const { keepShare = 0.6, summaryShare = 0.3 } = options;
  const summarize = options.summarize && summarizerOf(options.summarize);
  return { name: "summarizeOlder", compact: (input) => summarized(input, { summarize, keepShare, summaryShare }) };
}
