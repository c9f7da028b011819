// A step: one model reply plus the results of the tools it asked for. Plain data; the run's journal is made of these.
import type { JsonValue } from "../base/json.ts";
import type { Content, Message } from "../messages/message.ts";
import type { Usage } from "../tokens/usage.ts";

/** One call of a step, as it was run. */
export interface StepToolCall {
  readonly toolCallId: string;
  readonly toolName: string;
  /** The input as JSON text, exactly as the model wrote it, even if it does not parse. */
  readonly inputText: string;
  /** True if a redactor changed the stored input, so the call cannot run. */
  readonly isRedacted?: boolean;
}

/** What became of one call. */
export interface ToolResult {
  readonly toolCallId: string;
  readonly toolName: string;
  /**
   * The arguments the tool was given; undefined where they did not parse or did not fit. Of a call that a resumed run had
   * made before: as the model wrote them.
   */
  readonly input?: JsonValue;
  /** The whole value, as JSON, however much of it the model was shown. */
  readonly output: JsonValue;
  /** What the model was shown. */
  readonly content: Content;
  readonly isError: boolean;
  /** What the tool threw, in the process where it ran: for events and hooks. It is not written anywhere. */
  readonly error?: unknown;
  readonly durationMs: number;
  /** How many bytes the model was not shown. */
  readonly clippedBytes?: number;
  /** The run of the subagent that answered. */
  readonly childRunId?: string;
}

/** Why the model was asked to say it again. */
export interface Correction {
  readonly reason: "output-mismatch" | "unreadable-decision";
  readonly message: string;
}

/** One finished step of a run. */
export interface Step {
  /** From 1. */
  readonly index: number;
  /** Everything it produced, in order: the reply, then tool results, then a correction or feedback if there was one. */
  readonly messages: readonly Message[];
  readonly text: string;
  readonly reasoning?: string;
  readonly toolCalls: readonly StepToolCall[];
  readonly toolResults: readonly ToolResult[];
  /** True for an answer. What any other step produced is tool trace, whatever the roles of its messages. */
  readonly isAnswer: boolean;
  readonly correction?: Correction;
  readonly finishReason: string;
  /** Of this step's model call alone. */
  readonly usage: Usage;
  readonly modelId: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly durationMs: number;
}
