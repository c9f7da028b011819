// The front door of the library: every public name, listed by hand.

export { Agent, type ContextState } from "./agent/agent.ts";
export { AgentBuilder } from "./agent/agent-builder.ts";
export type { AgentStream } from "./agent/agent-stream.ts";
export { reactDriver } from "./agent/drivers/react.ts";
export { toolCallingDriver } from "./agent/drivers/tool-calling.ts";
export type {
  AgentOptions,
  Instructions,
  ResumeOptions,
  RunInput,
  RunOptions,
  RunSource,
  SubagentOptions,
} from "./agent/ports/agent-options.ts";
export type { DecidedCall, Decisions } from "./agent/ports/approvals.ts";
export type { Driver, Reading } from "./agent/ports/driver.ts";
export type {
  AgentEvent,
  CompactionEndEvent,
  ErrorEvent,
  GuardrailTripEvent,
  MessageAddedEvent,
  ModelEndEvent,
  ModelRetryEvent,
  ModelStartEvent,
  ReasoningDeltaEvent,
  RunEndEvent,
  RunStartEvent,
  StepEndEvent,
  StepStartEvent,
  SubagentEvent,
  TextDeltaEvent,
  ToolEndEvent,
  ToolInputDeltaEvent,
  ToolStartEvent,
} from "./agent/ports/events.ts";
export type {
  Guardrail,
  GuardrailOptions,
  GuardrailTrip,
  GuardrailVerdict,
  InputGuardrail,
  OutputGuardrail,
  ToolInputGuardrail,
  ToolOutputGuardrail,
} from "./agent/ports/guardrails.ts";
export type { AgentHooks, HookOptions } from "./agent/ports/hooks.ts";
export type { RunResult } from "./agent/ports/run-result.ts";
export type { JsonObject, JsonValue } from "./base/json.ts";
export { type Redactor, type RedactorOptions, redactor } from "./base/redact.ts";
export { type ErrorCode, isOffstageError, OffstageError } from "./errors.ts";
export type { AgentMemory } from "./memory/agent-memory.ts";
export type { CompactionReport } from "./memory/compaction/compaction.ts";
export type {
  Compacted,
  CompactionFunction,
  CompactionInput,
  CompactionStrategy,
} from "./memory/compaction/compaction-strategy.ts";
export { type Compactor, type CompactorOptions, compactor } from "./memory/compaction/compactor.ts";
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
} from "./memory/compaction/strategies/index.ts";
export { modelSummarizer, type Summarize, type Summary, type SummaryRequest } from "./memory/compaction/summarize.ts";
export { type Embedder, lexicalEmbedder } from "./memory/embedder.ts";
export {
  ConversationMemory,
  type ConversationMemoryOptions,
  HybridMemory,
  type HybridMemoryOptions,
  type MemoryBackend,
  PersistentMemory,
  SlidingWindowMemory,
  type SlidingWindowMemoryOptions,
  SummaryMemory,
  type SummaryMemoryOptions,
  VectorMemory,
  type VectorMemoryOptions,
} from "./memory/kinds/index.ts";
export { type RecallSource, type RecallToolOptions, recallTool } from "./memory/recall.ts";
export type { TextMemory } from "./memory/text-memory.ts";
export { parseMessage, parseMessages } from "./messages/codec.ts";
export { assistant, system, toolCall, toolResult, user } from "./messages/makers.ts";
export type {
  AssistantMessage,
  Content,
  ContentPart,
  Message,
  MessageMetadata,
  Role,
  SystemMessage,
  ToolCall,
  ToolMessage,
  UserMessage,
} from "./messages/message.ts";
export { MessageStore } from "./messages/message-store.ts";
export { Messages } from "./messages/messages.ts";
export { repairMessages } from "./messages/repair.ts";
export { adaptModel } from "./models/adapt-model.ts";
export type { AnyModel, Model, ModelCallOptions, ModelResult, ModelStreamPart } from "./models/model.ts";
export type { ModelSettings } from "./models/model-settings.ts";
export type { RetryOptions } from "./models/retry.ts";
export type { ExportFormat, FormatFunction } from "./query/export/export.ts";
export type { ExportToOptions } from "./query/export/export-to.ts";
export type { ExportOptions, ExportView } from "./query/export/export-view.ts";
export type { ExportedMessage } from "./query/export/exported-message.ts";
export { fromExport } from "./query/export/from-export.ts";
export type { MessageCriteria, MessagePredicate } from "./query/filter.ts";
export { MessageQuery, type MessageQueryOptions, type MessageSource } from "./query/message-query.ts";
export type { PrintOptions } from "./query/print.ts";
export type { MessageStats } from "./query/stats.ts";
export type { ToolCallRecord } from "./query/tool-calls.ts";
export type { ToolCallInfo } from "./query/tool-summary.ts";
export type { Timeline, Turn } from "./query/turn.ts";
export type { Approval } from "./sessions/approval.ts";
export type { BranchOptions } from "./sessions/branch-options.ts";
export { type EncryptedStore, type EncryptedStoreOptions, encryptedStore } from "./sessions/encrypted-store.ts";
export type { FoundRun } from "./sessions/found-run.ts";
export { InMemorySession } from "./sessions/in-memory-session.ts";
export type { OpenStep, RunInfo, RunRecord, RunStatus, StepRecord } from "./sessions/journal.ts";
export {
  memoryStore,
  openStore,
  type PostgresStoreOptions,
  postgresStore,
  type RedisStoreOptions,
  redisStore,
  type SqliteStore,
  type SqliteStoreOptions,
  type StoreOptions,
  sqliteStore,
} from "./sessions/open-store.ts";
export { PersistentSession, type PersistentSessionOptions } from "./sessions/persistent-session.ts";
export type { PruneOptions, PruneReport } from "./sessions/prune.ts";
export type { MessageRedactor } from "./sessions/redaction.ts";
export type { RunFilter } from "./sessions/run-filter.ts";
export type { ListedRun, ListRunsOptions } from "./sessions/run-list.ts";
export type { Session, SessionPort } from "./sessions/session.ts";
export { SessionBusyError, SessionConflictError } from "./sessions/session-errors.ts";
export type { ListSessionsOptions, SessionInfo } from "./sessions/session-list.ts";
export { createStore, type Store, type StoredRuns, type StoredSessions, type StoredSpans } from "./sessions/store.ts";
export type { StoreDriver } from "./sessions/store-driver.ts";
export type { Violation } from "./sessions/verify-store.ts";
export { AgentContext } from "./state/agent-context.ts";
export { AgentState, type AgentStatus } from "./state/agent-state.ts";
export { type ErrorPolicy, errorPolicy, errorPresence } from "./state/criteria/errors.ts";
export { costLimit, deadline, retryLimit, stepLimit, timeLimit, tokenLimit } from "./state/criteria/limits.ts";
export { finishReason, repeatedCall, responseContent, toolCallPresence } from "./state/criteria/replies.ts";
export { type Critique, type SelfCriticOptions, selfCritic } from "./state/criteria/self-critic.ts";
export type { Criterion, CriterionFunction } from "./state/criterion.ts";
export type { NamedVerdict, Outcome, OutcomeReason, OutcomeStatus, Verdict } from "./state/outcome.ts";
export type { AgentStateJson, PendingStep } from "./state/pending-step.ts";
export type { Next, Processor } from "./state/processor.ts";
export {
  appendContextMetadata,
  appendFinalResponse,
  appendStepMessages,
  appendToolTraceToBuffer,
  applyCachedContext,
  clearExecutionBuffer,
} from "./state/processors/index.ts";
export type { Correction, Step, StepToolCall, ToolResult } from "./state/step.ts";
export { costOf } from "./tokens/cost.ts";
export type { ModelPrice, PriceTable } from "./tokens/prices.ts";
export { type TokenCounter, type TokenCounting, tokenCounter } from "./tokens/token-counter.ts";
export type { Usage } from "./tokens/usage.ts";
export type { AnySchema, CompiledSchema, JsonSchema, RawSchema, StandardSchema } from "./tools/schema.ts";
export { type Remember, type Tool, type ToolOptions, type ToolRunOptions, tool } from "./tools/tool.ts";
export { type BatchedExporter, type BatchedOptions, type BatchStats, batched } from "./tracing/batched.ts";
export { consoleExporter } from "./tracing/exporters/console.ts";
export { jsonlExporter } from "./tracing/exporters/jsonl.ts";
export { type MemoryExporter, memoryExporter } from "./tracing/exporters/memory.ts";
export { type StoreExporterOptions, storeExporter } from "./tracing/exporters/store.ts";
export { redactSpan } from "./tracing/redact-span.ts";
export {
  type RenderableTrace,
  type RenderTraceOptions,
  renderTrace,
  type SpanNode,
  spanTree,
} from "./tracing/render-trace.ts";
export type { EndStatus, SpanData, SpanKind, SpanStatus } from "./tracing/span-data.ts";
export type { SpanExporter } from "./tracing/span-exporter.ts";
export {
  currentGroupId,
  currentTraceId,
  type SpanOptions,
  TraceContext,
  type TraceOptions,
} from "./tracing/trace-context.ts";
export { TraceSpan } from "./tracing/trace-span.ts";
export { configureTracing, flushTracing, shutdownTracing } from "./tracing/trace-state.ts";
export type { TraceRecord, Tracer, TracerLevel } from "./tracing/tracer.ts";
export { BufferedTracer } from "./tracing/tracers/buffered-tracer.ts";
export { CompositeTracer } from "./tracing/tracers/composite-tracer.ts";
export { ConsoleTracer } from "./tracing/tracers/console-tracer.ts";
export { NoopTracer } from "./tracing/tracers/noop-tracer.ts";
export type { Sampler, TracingOptions } from "./tracing/tracing-options.ts";
export { type WithSpanOptions, withSpan, withTrace } from "./tracing/with-span.ts";
export { version } from "./version.ts";
