// The list of memories. To add one: a file here, a line below and a call of the contract suite.

export { ConversationMemory, type ConversationMemoryOptions } from "./conversation-memory.ts";
export { HybridMemory, type HybridMemoryOptions } from "./hybrid-memory.ts";
export { type MemoryBackend, PersistentMemory } from "./persistent-memory.ts";
export { SlidingWindowMemory, type SlidingWindowMemoryOptions } from "./sliding-window-memory.ts";
export { SummaryMemory, type SummaryMemoryOptions } from "./summary-memory.ts";
export { VectorMemory, type VectorMemoryOptions } from "./vector-memory.ts";
