// The events that leave the process, as one union of plain JSON. Every protocol is made from these, so whatever is not in them
// cannot reach a client.
import type { JsonValue } from "../../base/json.ts";

/** The subagent's run that an event belongs to. Left out on events of the run itself. */
export interface ServedSubagent {
  readonly runId: string;
  readonly agent: string;
}

interface InRun {
  /** The run that was asked, even on events of its subagents. */
  readonly runId: string;
}

interface InStep extends InRun {
  /** From 1. */
  readonly step: number;
  readonly subagent?: ServedSubagent | undefined;
}

interface OfTool extends InStep {
  /** The id of the call. For a call of a subagent it begins with the id of the subagent's run. */
  readonly toolCallId: string;
  readonly toolName: string;
}

/** A run begins, or is resumed. */
export interface ServedRunStart extends InRun {
  readonly type: "run-start";
  readonly agent: string;
  readonly isResumed?: boolean | undefined;
}

export interface ServedStepStart extends InStep {
  readonly type: "step-start";
}

/** Text of the answer, or a draft beside tool calls: `isAnswer` of the step's end says which. */
export interface ServedTextDelta extends InStep {
  readonly type: "text-delta";
  readonly delta: string;
}

/** Told under `show: "trace"` only. */
export interface ServedReasoningDelta extends InStep {
  readonly type: "reasoning-delta";
  readonly delta: string;
}

/** The model call is repeated: deltas of this step so far are void. */
export interface ServedStepReset extends InStep {
  readonly type: "step-reset";
}

/** A call begins. Without `input` if only its name may be shown. */
export interface ServedToolStart extends OfTool {
  readonly type: "tool-start";
  readonly input?: JsonValue | undefined;
  /** True if the call was told before the run was resumed. */
  readonly isResumed?: boolean | undefined;
}

/** How far a running tool is, as it said itself. Told only if the tool is shown with `"all"`, and only live. */
export interface ServedToolProgress extends OfTool {
  readonly type: "tool-progress";
  readonly value: JsonValue;
}

/** A call has ended. Without `output` unless the tool is shown with `"all"`. */
export interface ServedToolEnd extends OfTool {
  readonly type: "tool-end";
  readonly status: "ok" | "error" | "rejected" | "interrupted";
  readonly output?: JsonValue | undefined;
}

/** A call waits for a person. Told in every mode, with its name and input. */
export interface ServedApprovalRequest extends OfTool {
  readonly type: "approval-request";
  readonly kind: "call" | "question";
  readonly input: JsonValue;
  /** The question, if the tool asks one. */
  readonly message?: string | undefined;
  /** The JSON Schema of the answer to a question. */
  readonly schema?: JsonValue | undefined;
}

/** A message that was said during the run has joined it. */
export interface ServedMessageJoined extends InRun {
  readonly type: "message-joined";
  readonly message: ServedMessage;
}

export interface ServedStepEnd extends InStep {
  readonly type: "step-end";
  /** False if the text of the step was a draft beside tool calls. */
  readonly isAnswer: boolean;
}

/** The last event. The run may go on later if its status is `waiting`. */
export interface ServedRunEnd extends InRun {
  readonly type: "run-end";
  readonly status: "completed" | "stopped" | "failed" | "waiting" | "interrupted";
  readonly reason: string;
  /** The code of the error of a failed run. Its sentence does not leave the process. */
  readonly error?: string | undefined;
}

/** An event of a run as clients may see it: the form of `protocol: "events"`, and the source of the other protocols. */
export type ServedEvent =
  | ServedRunStart
  | ServedStepStart
  | ServedTextDelta
  | ServedReasoningDelta
  | ServedStepReset
  | ServedToolStart
  | ServedToolProgress
  | ServedToolEnd
  | ServedApprovalRequest
  | ServedMessageJoined
  | ServedStepEnd
  | ServedRunEnd;

export interface ServedTextPart {
  readonly type: "text";
  readonly text: string;
}

export interface ServedFilePart {
  readonly type: "file";
  readonly mediaType: string;
  readonly url: string;
  readonly filename?: string;
}

export interface ServedToolPart {
  /** "tool-" and the name of the tool. */
  readonly type: `tool-${string}`;
  readonly toolCallId: string;
  readonly state: "input-available" | "approval-requested" | "output-available" | "output-error" | "output-denied";
  /** An empty object if it is not shown. */
  readonly input: JsonValue;
  /** Null if it is not shown. */
  readonly output?: JsonValue | undefined;
  /** True unless the call waits for a person: then it is for the client to go on. */
  readonly providerExecuted?: true | undefined;
  readonly errorText?: string | undefined;
  readonly approval?: { readonly id: string; readonly descriptor?: JsonValue | undefined } | undefined;
}

/** How the run of an answer ended, unless it completed or goes on. */
export interface ServedEnding {
  readonly status: "stopped" | "failed";
  /** Why it was stopped, such as `max-steps`, or the code of its error. */
  readonly reason: string;
}

/** The metadata of a served message. `interrupted` marks text that was cut off. */
export type ServedMetadata = Partial<ServedEnding> & { readonly interrupted?: true };

/** The ending to tell beside a message; undefined if the run completed, waits or can be resumed. */
export function endingOf(status: string, reason: string | undefined): ServedEnding | undefined {
  return status === "stopped" || status === "failed" ? { status, reason: reason ?? status } : undefined;
}

/** A message as clients see it: the UI message of the AI SDK. The id of an answer is the id of its run. */
export interface ServedMessage {
  readonly id: string;
  readonly role: "user" | "assistant";
  readonly parts: readonly (ServedTextPart | ServedFilePart | ServedToolPart)[];
  readonly metadata?: ServedMetadata | undefined;
}
