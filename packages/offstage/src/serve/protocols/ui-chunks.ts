// Events as chunks of the AI SDK's UI message stream, version 1. One message per run; its id is the run's id.
import type { JsonValue } from "../../base/json.ts";
import {
  endingOf,
  type ServedApprovalRequest,
  type ServedEnding,
  type ServedEvent,
  type ServedFilePart,
  type ServedRunEnd,
  type ServedTextPart,
  type ServedToolEnd,
  type ServedToolProgress,
  type ServedToolStart,
} from "../telling/served-event.ts";

type FinishReason = "stop" | "error" | "tool-calls" | "interrupted" | "other";

/** A chunk of the UI message stream: a part of the union that the package "ai" reads. */
export type UiMessageChunk =
  | { type: "start"; messageId: string }
  | { type: "start-step" }
  | { type: "finish-step" }
  | { type: "reset-step" }
  | { type: "text-start" | "reasoning-start"; id: string; providerMetadata?: SubagentMark }
  | { type: "text-delta" | "reasoning-delta"; id: string; delta: string }
  | { type: "text-end" | "reasoning-end"; id: string }
  | { type: "tool-input-available"; toolCallId: string; toolName: string; input: JsonValue; providerExecuted: boolean }
  | { type: "tool-approval-request"; approvalId: string; toolCallId: string; approvalDescriptor?: JsonValue }
  | { type: "tool-output-available"; toolCallId: string; output: JsonValue; providerExecuted: true }
  | { type: "tool-output-error"; toolCallId: string; errorText: string; providerExecuted: true }
  | { type: "tool-output-denied"; toolCallId: string }
  | { type: "steering-message"; id: string; parts: (ServedTextPart | ServedFilePart)[] }
  | { type: "data-tool-progress"; id: string; data: ToolProgress; transient: true }
  | { type: "error"; errorText: string }
  | { type: "abort"; reason?: string }
  | { type: "finish"; finishReason: FinishReason; messageMetadata?: ServedEnding };

/** How far a running tool is. */
type ToolProgress = { toolCallId: string; toolName: string; value: JsonValue };

/** Marks text of a subagent. */
type SubagentMark = { offstage: { agent: string; runId: string } };

type Kind = "text" | "reasoning";

interface OpenPart {
  readonly kind: Kind;
  readonly owner: string;
  readonly id: string;
}

/** Writes the chunks of one stream. */
export class UiChunkWriter {
  /** The open parts, by kind and run: subagents stream at the same time, so several may be open. */
  readonly #open = new Map<string, OpenPart>();
  /** How often an id was given, so that none is used twice. */
  readonly #given = new Map<string, number>();

  write(event: ServedEvent): UiMessageChunk[] {
    switch (event.type) {
      case "run-start":
        return [{ type: "start", messageId: event.runId }];
      case "step-start":
        return event.subagent === undefined ? [{ type: "start-step" }] : [];
      case "text-delta":
        return this.#delta("text", event);
      case "reasoning-delta":
        return this.#delta("reasoning", event);
      case "step-reset":
        return this.#reset(event);
      case "tool-start":
        return [toolInput(event)];
      case "tool-progress":
        return [toolProgress(event)];
      case "tool-end":
        return [toolOutput(event)];
      case "approval-request":
        return [toolInput(event), approvalRequest(event)];
      case "message-joined": {
        const parts = event.message.parts.filter((part) => part.type === "text" || part.type === "file");
        return [
          { type: "steering-message", id: event.message.id, parts: parts as (ServedTextPart | ServedFilePart)[] },
        ];
      }
      case "step-end":
        return [...this.#close(event), ...(event.subagent === undefined ? [{ type: "finish-step" as const }] : [])];
      case "run-end":
        return [...this.#closeAll(), ...finish(event)];
    }
  }

  #delta(kind: Kind, event: Extract<ServedEvent, { delta: string }>): UiMessageChunk[] {
    const { delta, subagent } = event;
    const owner = subagent?.runId ?? event.runId;
    const known = this.#open.get(`${kind} ${owner}`);
    if (known !== undefined) return [{ type: `${kind}-delta`, id: known.id, delta }];
    const id = this.#newId(`${owner}:${event.step}:${kind}`);
    this.#open.set(`${kind} ${owner}`, { kind, owner, id });
    const mark = subagent && { providerMetadata: { offstage: { agent: subagent.agent, runId: subagent.runId } } };
    return [
      { type: `${kind}-start`, id, ...mark },
      { type: `${kind}-delta`, id, delta },
    ];
  }

  #newId(id: string): string {
    const count = (this.#given.get(id) ?? 0) + 1;
    this.#given.set(id, count);
    return count === 1 ? id : `${id}:${count}`;
  }

  // Chunks cannot take back a part of the step for a subagent alone, so its parts are closed.
  #reset(event: Extract<ServedEvent, { type: "step-reset" }>): UiMessageChunk[] {
    if (event.subagent !== undefined) return this.#close(event);
    this.#open.clear();
    return [{ type: "reset-step" }];
  }

  #close({ runId, subagent }: { runId: string; subagent?: { runId: string } | undefined }): UiMessageChunk[] {
    const owner = subagent?.runId ?? runId;
    return this.#end((part) => part.owner === owner);
  }

  #closeAll(): UiMessageChunk[] {
    return this.#end(() => true);
  }

  #end(isMeant: (part: OpenPart) => boolean): UiMessageChunk[] {
    const ended = [...this.#open].filter(([, part]) => isMeant(part));
    return ended.map(([key, { kind, id }]) => {
      this.#open.delete(key);
      return { type: `${kind}-end`, id };
    });
  }
}

// A call that waits for a person is in the client's hands, any other in ours. Clients that send by themselves once all calls have an
// output count only their own, so a run that ends after its calls does not make them post.
function toolInput(event: ServedToolStart | ServedApprovalRequest): UiMessageChunk {
  const { toolCallId, toolName, input = {} } = event;
  const providerExecuted = event.type === "tool-start";
  return { type: "tool-input-available", toolCallId, toolName, input, providerExecuted };
}

// Not a part of the message: the record does not have it either.
function toolProgress({ toolCallId, toolName, value }: ServedToolProgress): UiMessageChunk {
  return { type: "data-tool-progress", id: toolCallId, data: { toolCallId, toolName, value }, transient: true };
}

function toolOutput({ toolCallId, status, output }: ServedToolEnd): UiMessageChunk {
  if (status === "rejected") return { type: "tool-output-denied", toolCallId };
  const ended = { toolCallId, providerExecuted: true } as const;
  if (status === "ok") return { type: "tool-output-available", ...ended, output: output ?? null };
  return { type: "tool-output-error", ...ended, errorText: errorTextOf({ status, output }) };
}

/** The text for a call that failed: what it returned if that is shown, otherwise its status. */
export function errorTextOf({ status, output }: Pick<ServedToolEnd, "status" | "output">): string {
  if (output === undefined) return status;
  return typeof output === "string" ? output : JSON.stringify(output);
}

/** The part of an approval that tells a question from a call. */
export function approvalDescriptor({ kind, message, schema }: ServedApprovalRequest): JsonValue | undefined {
  if (kind === "call") return undefined;
  return { kind, ...(message !== undefined && { message }), ...(schema !== undefined && { schema }) };
}

function approvalRequest(event: ServedApprovalRequest): UiMessageChunk {
  const descriptor = approvalDescriptor(event);
  return {
    type: "tool-approval-request",
    approvalId: event.toolCallId,
    toolCallId: event.toolCallId,
    ...(descriptor !== undefined && { approvalDescriptor: descriptor }),
  };
}

function finish({ status, reason, error }: ServedRunEnd): UiMessageChunk[] {
  const ending = endingOf(status, error ?? reason);
  const finished = (finishReason: FinishReason): UiMessageChunk => ({
    type: "finish",
    finishReason,
    ...(ending && { messageMetadata: ending }),
  });
  switch (status) {
    case "failed":
    case "interrupted":
      return [{ type: "error", errorText: error ?? `run-${status}` }, finished("error")];
    case "waiting":
      return [finished("tool-calls")];
    case "stopped":
      if (reason !== "aborted" && reason !== "stop-requested") return [finished("other")];
      return [{ type: "abort", reason }, finished("interrupted")];
    default:
      return [finished("stop")];
  }
}
