// The list of strategies. To add one: a file here and a line below.

export { type HybridOptions, hybrid } from "./hybrid.ts";
export { type ImportanceOptions, type ImportanceScore, importance } from "./importance.ts";
export { type PruneToolResultsOptions, pruneToolResults } from "./prune-tool-results.ts";
export { slidingWindow } from "./sliding-window.ts";
export { type SummarizeOlderOptions, summarizeOlder } from "./summarize-older.ts";
