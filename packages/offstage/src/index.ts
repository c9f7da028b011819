// The front door, "offstage": what most programs use, listed by hand. The other doors are in doors/; no name has two.
// A type is here if a program writes it down. A single event is `Extract<AgentEvent, { type: "tool-end" }>`.

export { Agent } from "./agent/agent.ts";
export { AgentBuilder } from "./agent/agent-builder.ts";
export type { AgentStream } from "./agent/agent-stream.ts";
export { reactDriver } from "./agent/drivers/react.ts";
export type {
  AgentOptions,
  ResumeOptions,
  RunInput,
  RunOptions,
  SubagentOptions,
} from "./agent/ports/agent-options.ts";
export type { Driver } from "./agent/ports/driver.ts";
export type { AgentEvent } from "./agent/ports/events.ts";
export type {
  InputGuardrail,
  OutputGuardrail,
  ToolInputGuardrail,
  ToolOutputGuardrail,
} from "./agent/ports/guardrails.ts";
export type { AgentHooks, HookOptions } from "./agent/ports/hooks.ts";
export type { RunResult } from "./agent/ports/run-result.ts";
export type { JsonObject, JsonValue } from "./base/json.ts";
export { redactor } from "./base/redact.ts";
export { type ErrorCode, isOffstageError, OffstageError } from "./errors.ts";
export type { AgentMemory } from "./memory/agent-memory.ts";
export {
  ConversationMemory,
  HybridMemory,
  PersistentMemory,
  SlidingWindowMemory,
  SummaryMemory,
  VectorMemory,
} from "./memory/kinds/index.ts";
export { assistant, system, toolCall, toolResult, user } from "./messages/makers.ts";
export {
  type AssistantMessage,
  type ContentPart,
  type Message,
  type MessageMetadata,
  parseMessages,
  type SystemMessage,
  type ToolCall,
  type ToolMessage,
  textOf,
  type UnknownPart,
  type UserMessage,
} from "./messages/message.ts";
export { MessageStore, Messages } from "./messages/messages.ts";
export { repairMessages } from "./messages/repair.ts";
export { fallbackModel } from "./models/fallback-model.ts";
export type { AnyModel, Model } from "./models/model.ts";
export type { ModelSettings } from "./models/model-settings.ts";
export { MessageQuery } from "./query/message-query.ts";
export type { MessageStats } from "./query/stats.ts";
export type { ToolCallInfo } from "./query/tool-summary.ts";
export type { Timeline, Turn } from "./query/turn.ts";
export { encryptedStore } from "./sessions/encrypted-store.ts";
export { InMemorySession } from "./sessions/in-memory-session.ts";
export { memoryStore, openStore, postgresStore, redisStore, sqliteStore } from "./sessions/open-store.ts";
export { PersistentSession } from "./sessions/persistent-session.ts";
export type { Approval } from "./sessions/ports/run-record.ts";
export type { Session, SessionPort } from "./sessions/ports/session.ts";
export { SessionBusyError, SessionConflictError } from "./sessions/ports/session.ts";
export type { Store } from "./sessions/store.ts";
export { AgentContext } from "./state/agent-context.ts";
export { AgentState } from "./state/agent-state.ts";
export { costLimit, timeLimit, tokenLimit } from "./state/criteria/limits.ts";
export { stepLimit } from "./state/criterion.ts";
export type { Outcome } from "./state/outcome.ts";
export type { Processor } from "./state/processor.ts";
export {
  appendContextMetadata,
  appendFinalResponse,
  appendStepMessages,
  appendToolTraceToBuffer,
  applyCachedContext,
  clearExecutionBuffer,
} from "./state/processors/index.ts";
export type { Step, ToolResult } from "./state/step.ts";
export type { PriceTable } from "./tokens/price-of.ts";
export { type TokenCounter, tokenCounter } from "./tokens/token-counter.ts";
export type { Usage } from "./tokens/usage.ts";
export { costOf } from "./tokens/usage.ts";
export type { AnySchema } from "./tools/schema.ts";
export { type Tool, type ToolOptions, type ToolRunOptions, tool } from "./tools/tool.ts";
export { TraceContext } from "./tracing/trace-context.ts";
export { TraceSpan } from "./tracing/trace-span.ts";
export { configureTracing, flushTracing } from "./tracing/trace-state.ts";
export type { Tracer } from "./tracing/tracer.ts";
export { BufferedTracer } from "./tracing/tracers/buffered-tracer.ts";
export { CompositeTracer } from "./tracing/tracers/composite-tracer.ts";
export { ConsoleTracer } from "./tracing/tracers/console-tracer.ts";
export { NoopTracer } from "./tracing/tracers/noop-tracer.ts";
export { withSpan, withTrace } from "./tracing/with-span.ts";
