// "offstage/memory": compaction and its strategies, recall, embedders, and the options of the kinds of memory.

export type { MemoryPlace } from "../agent/ports/agent-options.ts";
export type { CompactionReport } from "../memory/compaction/compaction.ts";
export type {
  Compacted,
  CompactionFunction,
  CompactionInput,
  CompactionStrategy,
} from "../memory/compaction/compaction-strategy.ts";
export { type Compactor, type CompactorOptions, compactor } from "../memory/compaction/compactor.ts";
export {
  type HybridOptions,
  hybrid,
  type ImportanceOptions,
  type ImportanceScore,
  importance,
  type PruneToolResultsOptions,
  pruneToolResults,
  type SummarizeOlderOptions,
  slidingWindow,
  summarizeOlder,
} from "../memory/compaction/strategies/index.ts";
export type { Summarize, Summary, SummaryRequest } from "../memory/compaction/summarize.ts";
export { type Embedder, lexicalEmbedder } from "../memory/embedder.ts";
export type {
  ConversationMemoryOptions,
  HybridMemoryOptions,
  MemoryBackend,
  SlidingWindowMemoryOptions,
  SummaryMemoryOptions,
  VectorMemoryOptions,
} from "../memory/kinds/index.ts";
export { type RecallSource, type RecallToolOptions, recallTool } from "../memory/recall.ts";
export type { TextMemory } from "../memory/text-memory.ts";
