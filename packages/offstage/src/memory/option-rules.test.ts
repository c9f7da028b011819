// Options of memories and strategies that do not fit are refused with a sentence.
import { expect, test } from "vitest";
import { compactor } from "./compaction/compactor.ts";
import { hybrid, importance, pruneToolResults, summarizeOlder } from "./compaction/strategies/index.ts";
import { lexicalEmbedder } from "./embedder.ts";
import { ConversationMemory, HybridMemory, SlidingWindowMemory, SummaryMemory, VectorMemory } from "./kinds/index.ts";
import { recallTool } from "./recall.ts";

const summarize = (): string => "They talked.";

const makers: Record<string, (options: object) => unknown> = {
  ConversationMemory: (options) => new ConversationMemory(options),
  SlidingWindowMemory: (options) => new SlidingWindowMemory(options),
  SummaryMemory: (options) => new SummaryMemory(options as never),
  HybridMemory: (options) => new HybridMemory(options as never),
  VectorMemory: (options) => new VectorMemory(options),
  "lexicalEmbedder()": lexicalEmbedder,
  "compactor()": compactor,
  "summarizeOlder()": summarizeOlder,
  "pruneToolResults()": pruneToolResults,
  "importance()": importance,
  "hybrid()": hybrid,
  "recallTool()": (options) => recallTool([], options),
};

test.for(Object.entries(makers))("%s refuses unknown options and null", ([owner, make]) => {
  const code = "invalid-argument";
  const unknown = expect.stringContaining(`Unknown ${owner} option "colour". Valid options: `);
  expect(() => make({ colour: "red" })).toThrow(expect.objectContaining({ code, message: unknown }));
  const sentence = `The ${owner} options must be an object; found null.`;
  expect(() => make(null as never)).toThrow(expect.objectContaining({ code, message: sentence }));
});

test.for([
  ["ConversationMemory", { maxTokens: -1 }, '"maxTokens" must be a whole number of at least 0; found -1.'],
  ["ConversationMemory", { tokenCounter: {} }, '"tokenCounter" must be a counter { count(text) }; found object.'],
  ["SlidingWindowMemory", { turns: 0 }, '"turns" must be a whole number of at least 1; found 0.'],
  ["SummaryMemory", {}, '"summarize" must be a function or a model; found undefined.'],
  ["SummaryMemory", { summarize: "me" }, '"summarize" must be a function or a model; found "me".'],
  ["HybridMemory", { summarize, windowShare: 7 }, '"windowShare" must be a number from 0 to 1; found 7.'],
  ["HybridMemory", { summarize, onError: true }, '"onError" must be a function; found true.'],
  ["VectorMemory", { embedder: summarize }, '"embedder" must be an embedder { embed(texts) }; found function.'],
  ["VectorMemory", { minScore: "0" }, '"minScore" must be a number of at least -1; found "0".'],
  ["lexicalEmbedder()", { dimensions: 0 }, '"dimensions" must be a whole number of at least 1; found 0.'],
  ["compactor()", {}, 'also pass "contextWindow", in tokens.'],
  ["compactor()", { threshold: 100, strategy: {} }, '"strategy" must be a strategy such as slidingWindow(),'],
  ["summarizeOlder()", { keepShare: 2 }, '"keepShare" must be a number from 0 to 1; found 2.'],
  ["pruneToolResults()", { keepBlocks: -1 }, '"keepBlocks" must be a whole number of at least 0; found -1.'],
  ["importance()", { score: 5 }, '"score" must be a function; found 5.'],
  ["recallTool()", { maxBytes: "1k" }, '"maxBytes" must be a whole number of at least 1; found "1k".'],
] as const)("%s refuses %j", ([owner, options, says]) => {
  const message = expect.stringContaining(says);
  expect(() => makers[owner]?.(options)).toThrow(expect.objectContaining({ code: "invalid-argument", message }));
});

test("options that are undefined count as left out", () => {
  expect(() => new VectorMemory({ embedder: undefined, minScore: undefined, onError: undefined })).not.toThrow();
  expect(compactor({ contextWindow: 100, threshold: undefined, strategy: undefined }).limit).toBe(80);
});

test.for([5, "text", null, undefined, {}])("recall cannot look into %j", (source) => {
  expect(() => recallTool(source as never)).toThrow('"source" must be a session with');
});
