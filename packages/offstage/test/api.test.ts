// The public API: every export of every entry point, listed by hand. Reads the built package.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import manifest from "../package.json" with { type: "json" };

interface Door {
  readonly values: string;
  readonly types: string;
}

const api: Record<string, Door> = {
  ".": {
    values: `
      Agent AgentBuilder fallbackModel reactDriver tool
      system user assistant toolResult toolCall textOf parseMessages repairMessages Messages MessageStore
      AgentState AgentContext stepLimit tokenLimit timeLimit costLimit
      appendContextMetadata appendFinalResponse appendStepMessages appendToolTraceToBuffer applyCachedContext clearExecutionBuffer
      InMemorySession PersistentSession memoryStore sqliteStore postgresStore redisStore encryptedStore openStore
      ConversationMemory HybridMemory PersistentMemory SlidingWindowMemory SummaryMemory VectorMemory
      MessageQuery costOf tokenCounter redactor
      withTrace withSpan TraceContext TraceSpan configureTracing flushTracing
      BufferedTracer CompositeTracer ConsoleTracer NoopTracer
      OffstageError SessionBusyError SessionConflictError isOffstageError`,
    types: `
      AgentOptions RunOptions ResumeOptions SubagentOptions RunInput RunResult AgentStream AgentEvent AgentHooks HookOptions Driver
      InputGuardrail OutputGuardrail ToolInputGuardrail ToolOutputGuardrail Approval
      Tool ToolOptions ToolRunOptions AnySchema Model AnyModel ModelSettings
      Message SystemMessage UserMessage AssistantMessage ToolMessage ToolCall ContentPart UnknownPart MessageMetadata JsonValue JsonObject
      Processor Step ToolResult Outcome Usage PriceTable TokenCounter
      Session SessionPort Store AgentMemory MessageStats ToolCallInfo Timeline Turn Tracer ErrorCode`,
  },
  "./costs": { values: "budget listPrices listPricesDate", types: "BudgetOptions BudgetStore ModelPrice" },
  "./criteria": {
    values: `
      deadline errorPolicy errorPresence finishReason repeatedCall responseContent retryLimit selfCritic toolCallPresence`,
    types: "Asking Criterion CriterionFunction Critique ErrorPolicy OutcomeReason Verdict",
  },
  "./dbos": {
    values: "dbosEngine",
    types: `
      CloseOptions DbosEngine DbosEngineOptions EngineAgent EngineClient EngineHealth EngineMeter EngineResult ResultOptions Schedule StopOptions
      SubmitOptions Submitted`,
  },
  "./mcp": {
    values: "mcpServer mcpTools",
    types: `
      McpAuthProvider McpCall McpHints McpOAuthProvider McpResource McpTools McpToolsOptions
      McpAccess McpServer McpServerOptions McpStdioOptions`,
  },
  "./memory": {
    values: `
      compactor hybrid importance pruneToolResults slidingWindow summarizeOlder lexicalEmbedder recallTool`,
    types: `
      Compactor CompactorOptions CompactionFunction CompactionInput CompactionReport CompactionStrategy Compacted
      HybridOptions ImportanceOptions ImportanceScore PruneToolResultsOptions SummarizeOlderOptions
      Summarize Summary SummaryRequest Embedder RecallSource RecallToolOptions TextMemory MemoryBackend MemoryPlace
      ConversationMemoryOptions HybridMemoryOptions SlidingWindowMemoryOptions SummaryMemoryOptions VectorMemoryOptions`,
  },
  "./openai-agents": { values: "toOpenAiSession fromOpenAiSession", types: "OpenAiItem OpenAiSession" },
  "./query": {
    values: "fromExport",
    types: `
      MessageCriteria MessagePredicate MessageQueryOptions MessageSource ToolCallRecord RunSummary
      SubagentTurn TurnItem
      ExportFormat ExportOptions ExportToOptions ExportView ExportedMessage FormatFunction PrintOptions`,
  },
  "./serve": {
    values: "serve nodeHandler uiMessageChunks agUiEvents",
    types: `
      ServeOptions Authorize Authorized ServeErrorPlace Show ToolDetail ProtocolName ServedEvent ServedMessage
      FetchHandler NodeHandler UiMessageChunk UiMessageChunksOptions AgUiEvent AgUiEventsOptions AgUiInterrupt`,
  },
  "./sessions": {
    values: "",
    types: `
      StoreOptions SqliteStore SqliteStoreOptions EncryptedStore EncryptedStoreOptions PersistentSessionOptions BranchOptions
      ListRunsOptions ListedRun RunInfo RunStatus FoundRun StepRecord ListSessionsOptions SessionInfo
      MessageRedactor PruneOptions PruneReport VerifyOptions Violation Annotation NewAnnotation InputChanges RecordedInput Description SentMessage StopRunOptions
      Dimension GroupNumbers Numbers NumbersOptions FoundMessage SearchOptions StoreQueryOptions`,
  },
  "./store-driver": {
    values: "createStore tables",
    types: `
      Check Commit Committed Condition Grouping Key Put Remove Row RowPlace RowRange Selection StoreDriver Value Write WriteLabel
      Column Order Table TableName`,
  },
  "./tools": {
    values: "audio file fromAiSdkTools image text",
    types: "AgentTool AiSdkTool FilePartOptions FileSource HostedTool StepFunction StepOptions",
  },
  "./tracing": {
    values: `
      batched consoleExporter jsonlExporter memoryExporter storeExporter redactSpan
      renderTrace spanTree currentGroupId currentTraceId shutdownTracing`,
    types: `
      SpanData SpanExporter SpanKind SpanNode SpanOptions SpanStatus EndStatus WithSpanOptions TraceOptions TracingOptions Sampler
      BatchStats BatchedExporter BatchedOptions MemoryExporter StoreExporterOptions RenderTraceOptions RenderableTrace
      TraceRecord TracerLevel Redactor`,
  },
  "./testing": {
    values: `
      scriptedModel crashingStore checkSpans
      memoryContract sessionContract sessionStoreContract spanExporterContract storeDriverContract`,
    types: `
      ScriptEntry ScriptedModel ScriptedModelOptions ScriptedReply ScriptedRequest ScriptedToolCall ScriptedUsage
      CheckSpansOptions ContractCase CrashPoint ExporterUnderTest MemoryContractOptions SessionStoreContractOptions
      StoreDriverContractOptions`,
  },
  "./bpe": { values: "bpeTokenCounter", types: "BpeEncoding BpeTokenCounterOptions" },
  "./otel": { values: "otelExporter", types: "OtelExporterOptions" },
  "./postgres": { values: "postgresStore", types: "PostgresStoreOptions" },
  "./redis": { values: "redisStore", types: "RedisStoreOptions" },
};

const doors = Object.entries(api).map(([subpath, { values, types }]) => {
  return { subpath, values: words(values), types: words(types) };
});

function words(text: string): string[] {
  return text.split(/\s+/).filter(Boolean).sort();
}

/** Returns the names that a declaration file exports, values included. */
function declaredNames(path: string): string[] {
  const lists = readFileSync(new URL(`../${path}`, import.meta.url), "utf8").matchAll(
    /^export (?:type )?\{([^}]*)\}/gm,
  );
  return [...lists].flatMap(([, names = ""]) => words(names.replaceAll(/\btype /g, "").replaceAll(",", " "))).sort();
}

test("the entry points are exactly these", () => {
  expect(Object.keys(manifest.exports)).toEqual([...Object.keys(api), "./package.json"]);
});

test.for(doors)("$subpath exports exactly its listed names", async ({ subpath, values, types }) => {
  const entry: object = await import(`offstage${subpath.slice(1)}`);
  expect(Object.keys(entry).sort()).toEqual(values);
  const { types: path } = manifest.exports[subpath as "."];
  expect(declaredNames(path)).toEqual([...values, ...types].sort());
});

test("docs/imports.md has a row for every other entry point, with its values", () => {
  const page = readFileSync(new URL("../../../docs/imports.md", import.meta.url), "utf8");
  const rows = [...page.matchAll(/^\| `offstage(\/[a-z-]+)` \| ([^|]*) \|/gm)].map(([, subpath, names = ""]) => {
    return { subpath: `.${subpath}`, values: [...names.matchAll(/`(\w+)`/g)].map(([, name]) => name).sort() };
  });
  expect(rows).toEqual(doors.slice(1).map(({ subpath, values }) => ({ subpath, values })));
});

test("the root has at most 110 exports, values and types together", () => {
  const [root] = doors;
  expect(root!.values.length + root!.types.length).toBeLessThanOrEqual(110);
});

test("no name is exported by two entry points", () => {
  const names = doors.flatMap(({ values, types }) => [...values, ...types]);
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  expect(twice).toEqual(["postgresStore", "redisStore"]);
});

test("./store-driver exports every type of the driver port", () => {
  const port = readFileSync(new URL("../src/sessions/ports/store-driver.ts", import.meta.url), "utf8");
  const named = [...port.matchAll(/^export (?:interface|type) (\w+)/gm)].map(([, name]) => name).sort();
  const tables = ["Column", "Order", "Table", "TableName"];
  expect([...named, ...tables].sort()).toEqual(words(api["./store-driver"]!.types));
});
