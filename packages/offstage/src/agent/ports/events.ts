// The events of a run, as one union. Streams yield them, and hooks receive them.
import type { JsonValue } from "../../base/json.ts";
import type { CompactionReport } from "../../memory/compaction/compaction.ts";
import type { Message } from "../../messages/message.ts";
import type { Approval } from "../../sessions/ports/run-record.ts";
import type { Outcome } from "../../state/outcome.ts";
import type { Step, StepToolCall, ToolResult } from "../../state/step.ts";
import type { Usage } from "../../tokens/usage.ts";
import type { GuardrailTrip } from "./guardrails.ts";
import type { HistoryCut, RunResult } from "./run-result.ts";

interface InRun {
  readonly runId: string;
  readonly agent: string;
}

interface InStep extends InRun {
  /** From 1. */
  readonly step: number;
}

export interface RunStartEvent extends InRun {
  readonly type: "run-start";
  readonly parentRunId?: string;
  readonly input: readonly Message[];
  /** True if the run is resumed. */
  readonly isResumed?: boolean;
}

export interface StepStartEvent extends InStep {
  readonly type: "step-start";
}

export interface ModelStartEvent extends InStep {
  readonly type: "model-start";
  readonly provider: string;
  readonly modelId: string;
}

export interface TextDeltaEvent extends InStep {
  readonly type: "text-delta";
  readonly delta: string;
}

export interface ReasoningDeltaEvent extends InStep {
  readonly type: "reasoning-delta";
  readonly delta: string;
}

export interface ToolInputDeltaEvent extends InStep {
  readonly type: "tool-input-delta";
  /** The provider's id. The call's final id is in `tool-start`. */
  readonly toolCallId: string;
  readonly toolName: string;
  readonly delta: string;
}

/** A model call failed and is retried after a delay. */
export interface ModelRetryEvent extends InStep {
  readonly type: "model-retry";
  readonly attempt: number;
  readonly delayMs: number;
  readonly error: unknown;
}

/** A model has failed, after its retries, and the next one of a fallback model is called. */
export interface ModelFallbackEvent extends InStep {
  readonly type: "model-fallback";
  /** The model that failed. */
  readonly provider: string;
  readonly modelId: string;
  readonly nextModelId: string;
  readonly error: unknown;
}

export interface ModelEndEvent extends InStep {
  readonly type: "model-end";
  readonly modelId: string;
  readonly finishReason: string;
  readonly usage: Usage;
}

/** A call needs a person: approval, or the answer to its question. `onApproval` may decide at once; otherwise the run will wait. */
export interface ApprovalRequestEvent extends InStep {
  readonly type: "approval-request";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly approval: Approval;
}

/** A tool is about to run. */
export interface ToolStartEvent extends InStep {
  readonly type: "tool-start";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly call: StepToolCall;
}

/** A running tool reported how far it is. */
export interface ToolProgressEvent extends InStep {
  readonly type: "tool-progress";
  readonly toolCallId: string;
  readonly toolName: string;
  /** The value that the tool passed to `progress`, as JSON. No guardrail has checked it. */
  readonly value: JsonValue;
}

export interface ToolEndEvent extends InStep {
  readonly type: "tool-end";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly result: ToolResult;
}

export interface StepEndEvent extends InStep {
  readonly type: "step-end";
  /** The step as it is recorded, with its messages. */
  readonly result: Step;
}

/** The session has more messages than the model sees. */
export interface HistoryCutEvent extends InRun, HistoryCut {
  readonly type: "history-cut";
}

/** The model input was shortened. */
export interface CompactionEndEvent extends InStep {
  readonly type: "compaction-end";
  readonly report: CompactionReport;
}

export interface GuardrailTripEvent extends InRun {
  readonly type: "guardrail-trip";
  readonly step?: number;
  readonly trip: GuardrailTrip;
}

export interface MessageAddedEvent extends InRun {
  readonly type: "message-added";
  readonly step?: number;
  readonly message: Message;
}

/** Something that a user said while the run worked has joined it, behind a step or with its input. */
export interface MessageJoinedEvent extends InRun {
  readonly type: "message-joined";
  readonly step?: number;
  readonly message: Message;
}

/** Something failed: the run, a `needsApproval` or `onApproval` function, a memory, or a hook. */
export interface ErrorEvent extends InRun {
  readonly type: "error";
  readonly error: unknown;
  /** "run", "needsApproval", "onApproval", "memory", or the name of the hook that failed. */
  readonly source: string;
}

/** An event of a subagent, which has its own run id. */
export interface SubagentEvent extends InStep {
  readonly type: "subagent-event";
  readonly toolCallId: string;
  readonly event: AgentEvent;
}

/** The last event of every run, whatever its outcome. */
export interface RunEndEvent extends InRun {
  readonly type: "run-end";
  readonly outcome: Outcome;
  readonly result: RunResult<unknown>;
}

export type AgentEvent =
  | RunStartEvent
  | StepStartEvent
  | ModelStartEvent
  | TextDeltaEvent
  | ReasoningDeltaEvent
  | ToolInputDeltaEvent
  | ModelRetryEvent
  | ModelFallbackEvent
  | ModelEndEvent
  | ApprovalRequestEvent
  | ToolStartEvent
  | ToolProgressEvent
  | ToolEndEvent
  | StepEndEvent
  | GuardrailTripEvent
  | CompactionEndEvent
  | HistoryCutEvent
  | MessageAddedEvent
  | MessageJoinedEvent
  | ErrorEvent
  | SubagentEvent
  | RunEndEvent;

/** Receives events as they happen. */
export type Emit = (event: AgentEvent) => void;
