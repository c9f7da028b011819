// A step: one model reply plus the results of the tools it called. Plain data; the journal of a run is a list of steps.
import type { JsonValue } from "../base/json.ts";
import type { Content, Message } from "../messages/message.ts";
import type { Usage } from "../tokens/usage.ts";

/** One call of a step, as it was run. */
export interface StepToolCall {
  readonly toolCallId: string;
  readonly toolName: string;
  /** The input as JSON text, exactly as the model wrote it, even if it does not parse; or as a person changed it. */
  readonly inputText: string;
  /** True if a person changed the input before approving the call. */
  readonly isEdited?: boolean;
  /** True if a redactor changed the stored input, so the call cannot run. */
  readonly isRedacted?: boolean;
}

/** The result of one call. */
export interface ToolResult {
  readonly toolCallId: string;
  readonly toolName: string;
  /**
   * The checked input of the tool; undefined if it did not parse or did not fit the schema. In a resumed run, results from
   * before the interruption have the input as the model wrote it.
   */
  readonly input?: JsonValue;
  /** The whole value as JSON, even if the model saw only part of it. */
  readonly output: JsonValue;
  /** The content of the tool message, as the model sees it. */
  readonly content: Content;
  readonly isError: boolean;
  /** Set if the call did not fail by itself: a person rejected it, or its run was stopped or its process died while it ran. */
  readonly status?: "rejected" | "interrupted";
  /** The error that the tool threw, for events and hooks of this process. It is never stored. */
  readonly error?: unknown;
  readonly durationMs: number;
  /** How many bytes were clipped for the model. */
  readonly clippedBytes?: number;
  /** The run id of the subagent that answered. */
  readonly childRunId?: string;
}

/** Why the model was asked to repeat its reply. */
export interface Correction {
  readonly reason: "output-mismatch" | "unreadable-decision";
  readonly message: string;
}

/** One finished step of a run. */
export interface Step {
  /** From 1. */
  readonly index: number;
  /** All messages of the step, in order: the reply, then tool results, then a correction or feedback if there was one. */
  readonly messages: readonly Message[];
  readonly text: string;
  readonly reasoning?: string;
  readonly toolCalls: readonly StepToolCall[];
  readonly toolResults: readonly ToolResult[];
  /** True for an answer. The messages of any other step are tool trace, whatever their roles. */
  readonly isAnswer: boolean;
  readonly correction?: Correction;
  readonly finishReason: string;
  /** Tokens of the model call of this step alone. */
  readonly usage: Usage;
  /** The cost of this usage in US dollars, by the prices of the agent; absent if the model has no known price. */
  readonly cost?: number;
  readonly modelId: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly durationMs: number;
}
