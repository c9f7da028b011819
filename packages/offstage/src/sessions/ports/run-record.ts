// The record of a run as it is read back: plain data, and the calls in it that wait for approval. How it is written is in journal.ts.
import { type JsonObject, type JsonValue, parseJson } from "../../base/json.ts";
import type { AssistantMessage, Message, ToolCall, ToolMessage } from "../../messages/message.ts";
import type { Usage } from "../../tokens/usage.ts";
import type { SpanData } from "../../tracing/span-data.ts";

export const runStatuses = ["running", "completed", "stopped", "failed", "interrupted", "waiting"] as const;

// A person or a guardrail stopped these runs. Any other run that was stopped had reached a limit.
const finalReasons: ReadonlySet<string> = new Set(["aborted", "guardrail", "stop-requested"]);

/** True if a run was stopped by a limit, so that it can be resumed with a higher one. */
export function isStoppedByLimit({ status, reason }: { status: string; reason?: string | null | undefined }): boolean {
  return status === "stopped" && !finalReasons.has(reason ?? "");
}

/** The status of a recorded run. */
export type RunStatus = (typeof runStatuses)[number];

export interface RunError {
  readonly code: string;
  readonly message: string;
}

/** A failed attempt of a model call. */
export interface RetryRecord {
  readonly attempt: number;
  readonly delayMs: number;
  readonly error: string;
}

/** The vote of a criterion after a step. */
export interface VoteRecord {
  readonly criterion: string;
  /** "stop", "continue" or "may-stop". */
  readonly decision: string;
  readonly reason: string;
  readonly message: string;
}

/** The part of a model input that stays the same from step to step. */
export interface InputSetup {
  readonly modelId: string;
  readonly provider: string;
  readonly tools: readonly JsonValue[];
  readonly settings: JsonObject;
}

/** The input of a model call. */
export interface InputRecord {
  /** The same object for as long as nothing of it changes. */
  readonly setup: InputSetup;
  /** The messages as sent. Undefined if they are those of the step before, followed by the messages of that step. */
  readonly messages?: readonly Message[] | undefined;
}

/** One finished step. */
export interface StepRecord {
  /** From 1. */
  readonly step: number;
  /** Messages that were passed to `intend` and `settle`, as the same objects, are not written again. */
  readonly messages: readonly Message[];
  readonly usage: Usage;
  /** US dollars; missing if the model has no price. */
  readonly cost?: number | undefined;
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  readonly finishReason: string;
  readonly startedAt: string;
  readonly durationMs: number;
  /** The votes of the criteria after the step. */
  readonly verdicts?: readonly VoteRecord[] | undefined;
  readonly retries?: readonly RetryRecord[] | undefined;
  /** Full values of results that were clipped for the model, by tool call id. */
  readonly values?: Readonly<Record<string, JsonValue>> | undefined;
  /** Further data to keep with the step, such as a compaction. */
  readonly notes?: JsonObject | undefined;
  /** Spans that ended since the last write. */
  readonly spans?: readonly SpanData[] | undefined;
  /** The input of the step's model call. Written only; `store.runs.input` reads it. */
  readonly input?: InputRecord | undefined;
}

/** A run as lists show it. The status is `running` only while a process holds the lease of its session; otherwise `interrupted`. */
export interface RunInfo {
  readonly runId: string;
  readonly sessionId: string;
  readonly agent: string;
  readonly model?: string;
  readonly provider?: string;
  readonly status: RunStatus;
  readonly startedAt: string;
  readonly endedAt?: string;
  readonly durationMs?: number;
  readonly reason?: string;
  /** Why it was asked to stop, if that was said. */
  readonly stopReason?: string;
  /** The number of finished steps. */
  readonly stepCount: number;
  /** The number of tool calls that failed. */
  readonly errorCount: number;
  /** The tokens of the run and its subagents. Before its end, those of its own finished steps. */
  readonly usage?: Usage;
  /** The cost of the run and its subagents, in US dollars; missing if a model has no price. Before its end, that of its own steps. */
  readonly cost?: number;
  readonly error?: RunError;
  readonly parentRunId?: string;
  readonly parentToolCallId?: string;
  readonly traceId?: string;
  readonly notes?: JsonObject;
}

/** The answer of a person, and the question it was given to. */
export interface AnswerRecord {
  readonly message: string;
  readonly value?: JsonValue;
  readonly declined?: true;
  /** The state of the question. */
  readonly state?: JsonValue | undefined;
}

/** The latest question of a call, and the answers so far. If the call waits, its latest question has none. */
export interface QuestionRecord {
  readonly message: string;
  readonly schema?: JsonObject | undefined;
  /** The state that the tool keeps with its question. */
  readonly state?: JsonValue | undefined;
  readonly answers: readonly AnswerRecord[];
}

/** An unfinished step: its calls, and the results recorded so far. */
export interface OpenStep {
  readonly step: number;
  readonly message: AssistantMessage;
  readonly results: readonly ToolMessage[];
  /** The calls without a result. */
  readonly pending: readonly ToolCall[];
  /** The ids of the pending calls that wait for a person; left out if there are none. */
  readonly waiting?: readonly string[];
  /** The questions of pending calls, by tool call id, with the answers so far; left out if there are none. */
  readonly questions?: Readonly<Record<string, QuestionRecord>>;
}

/** Everything recorded of a run. Messages that were removed from the conversation are missing here too. */
export interface RunRecord extends RunInfo {
  readonly input: readonly Message[];
  /** Finished steps in order, without full values of clipped results: `store.runs.value` reads those. */
  readonly steps: readonly StepRecord[];
  readonly openStep?: OpenStep;
  /** The earlier attempts of the model call with which the run failed. */
  readonly failedAttempts?: readonly RetryRecord[];
  /** Some of its messages were removed from the conversation, or cannot be read. */
  readonly isIncomplete?: boolean;
  /** Runs of subagents, in the order they began. */
  readonly children: readonly RunInfo[];
}

interface Waiting {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: JsonValue;
  readonly agent: string;
  readonly runId: string;
}

/** A tool call of a run or of a subagent's run that waits for approval. */
export interface CallApproval extends Waiting {
  readonly kind: "call";
}

/** A tool call that asked a question, and waits for the answer. */
export interface QuestionApproval extends Waiting {
  readonly kind: "question";
  readonly message: string;
  /** The JSON Schema of the answer, if the tool gave one. */
  readonly schema?: JsonObject;
}

/** A tool call of a run or of a subagent's run that waits for a person: for approval, or for the answer to its question. */
export type Approval = CallApproval | QuestionApproval;

/** A question of a tool. */
export interface AskedQuestion {
  readonly message: string;
  readonly schema?: JsonObject | undefined;
}

interface WaitingCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly inputText: string;
  readonly question?: AskedQuestion | undefined;
}

/** Describes a call that waits. Arguments that are not JSON are shown as `{}`. */
export function approvalOf(
  { toolCallId, toolName, inputText, question }: WaitingCall,
  { agent, runId }: { readonly agent: string; readonly runId: string },
): Approval {
  const waiting = { toolCallId, toolName, input: parseJson(inputText) ?? {}, agent, runId };
  if (question === undefined) return { kind: "call", ...waiting };
  const { message, schema } = question;
  return { kind: "question", ...waiting, message, ...(schema !== undefined && { schema }) };
}
