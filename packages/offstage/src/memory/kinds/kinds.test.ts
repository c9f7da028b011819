// The contract of memories, on every kind and on stores.
import { describe, test } from "vitest";
import { memoryDriver } from "../../sessions/drivers/memory/memory.ts";
import { sqliteDriver } from "../../sessions/drivers/sqlite/sqlite.ts";
import { InMemorySession } from "../../sessions/in-memory-session.ts";
import { createStore } from "../../sessions/store.ts";
import { memoryContract } from "../../testing/memory-contract.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";
import type { AgentMemory } from "../agent-memory.ts";
import type { Summarize } from "../compaction/summarize.ts";
import {
  ConversationMemory,
  HybridMemory,
  PersistentMemory,
  SlidingWindowMemory,
  SummaryMemory,
  VectorMemory,
} from "./index.ts";

const summarize: Summarize = ({ messages, previous = "" }) => `${previous} ${messages.length} more.`.trim();
const failing: Summarize = () => Promise.reject(new Error("no summary today"));
const onError = (): void => {};

const kinds: Record<string, () => AgentMemory | Promise<AgentMemory>> = {
  ConversationMemory: () => new ConversationMemory(),
  SlidingWindowMemory: () => new SlidingWindowMemory(),
  SummaryMemory: () => new SummaryMemory({ summarize }),
  "SummaryMemory with a model": () => new SummaryMemory({ summarize: scriptedModel(() => "They talked.") }),
  "SummaryMemory whose summariser fails": () => new SummaryMemory({ summarize: failing, onError }),
  HybridMemory: () => new HybridMemory({ summarize }),
  "HybridMemory whose summariser fails": () => new HybridMemory({ summarize: failing, onError }),
  VectorMemory: () => new VectorMemory(),
  "VectorMemory whose embedder fails": () =>
    new VectorMemory({ embedder: { embed: () => Promise.reject(new Error("no vectors")) }, onError }),
  "PersistentMemory in memory": () => PersistentMemory.on(createStore(memoryDriver()), "m", new ConversationMemory()),
  "PersistentMemory in SQLite": () =>
    PersistentMemory.on(createStore(sqliteDriver({ path: ":memory:" })), "m", new HybridMemory({ summarize })),
  "PersistentMemory over a session": () => PersistentMemory.over(new InMemorySession(), new VectorMemory()),
};

describe.for(Object.entries(kinds))("%s", ([, open]) => {
  for (const { name, run } of memoryContract(open)) test(name, run);
});
