// Events as those of AG-UI 1.0. Each step's text is a message of its own; a run that waits ends with an interrupt for each call.
import type { JsonValue } from "../../base/json.ts";
import {
  endingOf,
  type ServedApprovalRequest,
  type ServedEnding,
  type ServedEvent,
  type ServedRunEnd,
  type ServedToolEnd,
} from "../telling/served-event.ts";

type Attributed = { subagentRunId?: string };

/** A call or a question that a run waits for. */
export interface AgUiInterrupt extends Attributed {
  id: string;
  /** "tool_call" or "question". */
  reason: string;
  message?: string;
  toolCallId: string;
  responseSchema?: Record<string, JsonValue>;
}

type AgUiOutcome = { type: "success" } | { type: "cancelled" } | { type: "interrupt"; interrupts: AgUiInterrupt[] };

/** An event of AG-UI: a part of the union that "@ag-ui/core" describes. */
export type AgUiEvent =
  | { type: "RUN_STARTED"; threadId: string; runId: string }
  | ({ type: "STEP_STARTED" | "STEP_FINISHED"; stepName: string } & Attributed)
  | ({ type: "TEXT_MESSAGE_START"; messageId: string; role: "assistant"; name?: string } & Attributed)
  | ({ type: "TEXT_MESSAGE_CONTENT" | "REASONING_MESSAGE_CONTENT"; messageId: string; delta: string } & Attributed)
  | ({ type: "TEXT_MESSAGE_END" | "REASONING_MESSAGE_END"; messageId: string } & Attributed)
  | ({ type: "REASONING_START" | "REASONING_END"; messageId: string } & Attributed)
  | ({ type: "REASONING_MESSAGE_START"; messageId: string; role: "reasoning" } & Attributed)
  | ({ type: "TOOL_CALL_START"; toolCallId: string; toolCallName: string } & Attributed)
  | ({ type: "TOOL_CALL_ARGS"; toolCallId: string; delta: string } & Attributed)
  | ({ type: "TOOL_CALL_END"; toolCallId: string } & Attributed)
  | ({ type: "TOOL_CALL_RESULT"; messageId: string; toolCallId: string; content: string; role: "tool" } & Attributed)
  | ({ type: "CUSTOM"; name: "message-joined" | "tool-progress"; value: JsonValue } & Attributed)
  | { type: "RUN_FINISHED"; threadId: string; runId: string; outcome: AgUiOutcome; result?: ServedEnding }
  | { type: "RUN_ERROR"; message: string; code: string };

type Kind = "text" | "reasoning";

interface OpenMessage extends Attributed {
  readonly kind: Kind;
  readonly owner: string;
  readonly messageId: string;
}

/** Writes the events of one stream. `runId` is the client's name for the run; default: ours. */
export class AgUiWriter {
  readonly #threadId: string;
  #runId: string | undefined;
  #hasStarted = false;
  /** The open messages, by kind and run. */
  readonly #open = new Map<string, OpenMessage>();
  readonly #openSteps = new Map<string, Attributed & { stepName: string }>();
  readonly #calls = new Set<string>();
  readonly #interrupts: AgUiInterrupt[] = [];
  readonly #used = new Map<string, number>();

  constructor({ threadId, runId }: { threadId: string; runId?: string | undefined }) {
    this.#threadId = threadId;
    this.#runId = runId;
  }

  write(event: ServedEvent): AgUiEvent[] {
    switch (event.type) {
      case "run-start":
        return this.#start(event.runId);
      case "step-start":
        return this.#stepStart(event);
      case "text-delta":
        return this.#delta("text", event);
      case "reasoning-delta":
        return this.#delta("reasoning", event);
      case "step-reset":
        return this.#close(ownerOf(event));
      case "tool-start":
        return event.isResumed ? [] : this.#call(event);
      case "tool-progress": {
        const { toolCallId, toolName, value } = event;
        return [
          { type: "CUSTOM", name: "tool-progress", value: { toolCallId, toolName, value }, ...attributed(event) },
        ];
      }
      case "tool-end":
        return [toolResult(event)];
      case "approval-request":
        this.#interrupts.push(interrupt(event));
        return this.#call(event);
      case "message-joined":
        return [{ type: "CUSTOM", name: "message-joined", value: event.message as unknown as JsonValue }];
      case "step-end":
        return [...this.#close(ownerOf(event)), ...this.#stepEnd(ownerOf(event))];
      case "run-end":
        return this.#end(event);
    }
  }

  // A replay of a resumed run starts twice, and AG-UI allows it once.
  #start(runId: string): AgUiEvent[] {
    this.#runId ??= runId;
    if (this.#hasStarted) return [];
    this.#hasStarted = true;
    return [{ type: "RUN_STARTED", threadId: this.#threadId, runId: this.#runId }];
  }

  #stepStart(event: Extract<ServedEvent, { type: "step-start" }>): AgUiEvent[] {
    const owner = ownerOf(event);
    const before = this.#stepEnd(owner);
    const step = { stepName: `step ${event.step}`, ...attributed(event) };
    this.#openSteps.set(owner, step);
    return [...before, { type: "STEP_STARTED", ...step }];
  }

  #stepEnd(owner: string): AgUiEvent[] {
    const step = this.#openSteps.get(owner);
    this.#openSteps.delete(owner);
    return step === undefined ? [] : [{ type: "STEP_FINISHED", ...step }];
  }

  #delta(kind: Kind, event: Extract<ServedEvent, { delta: string }>): AgUiEvent[] {
    const owner = ownerOf(event);
    const tag = attributed(event);
    const known = this.#open.get(`${kind} ${owner}`)?.messageId;
    const messageId = known ?? this.#newId(`${owner}:${event.step}${kind === "text" ? "" : ":reasoning"}`);
    const content: AgUiEvent =
      kind === "text"
        ? { type: "TEXT_MESSAGE_CONTENT", messageId, delta: event.delta, ...tag }
        : { type: "REASONING_MESSAGE_CONTENT", messageId, delta: event.delta, ...tag };
    if (known !== undefined) return [content];
    this.#open.set(`${kind} ${owner}`, { kind, owner, messageId, ...tag });
    if (kind === "text")
      return [{ type: "TEXT_MESSAGE_START", messageId, role: "assistant", ...name(event), ...tag }, content];
    return [
      { type: "REASONING_START", messageId, ...tag },
      { type: "REASONING_MESSAGE_START", messageId, role: "reasoning", ...tag },
      content,
    ];
  }

  // A message that continues after it was closed is a new one.
  #newId(id: string): string {
    const count = (this.#used.get(id) ?? 0) + 1;
    this.#used.set(id, count);
    return count === 1 ? id : `${id}:${count}`;
  }

  #close(owner: string | undefined): AgUiEvent[] {
    const parts = [...this.#open].filter(([, part]) => owner === undefined || part.owner === owner);
    return parts.flatMap(([key, { kind, messageId, subagentRunId }]): AgUiEvent[] => {
      this.#open.delete(key);
      const tag = subagentRunId === undefined ? {} : { subagentRunId };
      if (kind === "text") return [{ type: "TEXT_MESSAGE_END", messageId, ...tag }];
      return [
        { type: "REASONING_MESSAGE_END", messageId, ...tag },
        { type: "REASONING_END", messageId, ...tag },
      ];
    });
  }

  #call(event: Extract<ServedEvent, { type: "tool-start" | "approval-request" }>): AgUiEvent[] {
    const { toolCallId, toolName, input } = event;
    if (this.#calls.has(toolCallId)) return [];
    this.#calls.add(toolCallId);
    const tag = attributed(event);
    const args: AgUiEvent[] =
      input === undefined ? [] : [{ type: "TOOL_CALL_ARGS", toolCallId, delta: JSON.stringify(input), ...tag }];
    return [
      { type: "TOOL_CALL_START", toolCallId, toolCallName: toolName, ...tag },
      ...args,
      { type: "TOOL_CALL_END", toolCallId, ...tag },
    ];
  }

  #end({ status, reason, error, runId }: ServedRunEnd): AgUiEvent[] {
    const closed = [...this.#close(undefined), ...[...this.#openSteps.keys()].flatMap((owner) => this.#stepEnd(owner))];
    if (status === "failed" || status === "interrupted") {
      const code = error ?? `run-${status}`;
      return [...closed, { type: "RUN_ERROR", message: code, code }];
    }
    const place = { threadId: this.#threadId, runId: this.#runId ?? runId };
    const result = endingOf(status, reason);
    const outcome = this.#outcome(status, reason);
    return [...closed, { type: "RUN_FINISHED", ...place, outcome, ...(result && { result }) }];
  }

  #outcome(status: ServedRunEnd["status"], reason: string): AgUiOutcome {
    if (status === "waiting" && this.#interrupts.length > 0) return { type: "interrupt", interrupts: this.#interrupts };
    const isCancelled = status === "stopped" && (reason === "aborted" || reason === "stop-requested");
    return { type: isCancelled ? "cancelled" : "success" };
  }
}

type OfStep = Extract<ServedEvent, { step: number }>;

function ownerOf({ subagent, runId }: OfStep): string {
  return subagent?.runId ?? runId;
}

function attributed({ subagent }: OfStep): Attributed {
  return subagent === undefined ? {} : { subagentRunId: subagent.runId };
}

function name({ subagent }: OfStep): { name?: string } {
  return subagent === undefined ? {} : { name: subagent.agent };
}

function toolResult(event: ServedToolEnd): AgUiEvent {
  const { toolCallId, output, status } = event;
  const content = output === undefined ? (status === "ok" ? "" : status) : text(output);
  return {
    type: "TOOL_CALL_RESULT",
    messageId: `${toolCallId}:result`,
    toolCallId,
    content,
    role: "tool",
    ...attributed(event),
  };
}

function text(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function interrupt(event: ServedApprovalRequest): AgUiInterrupt {
  const { toolCallId, kind, message, schema } = event;
  return {
    id: toolCallId,
    reason: kind === "call" ? "tool_call" : "question",
    toolCallId,
    ...(message !== undefined && { message }),
    ...(typeof schema === "object" &&
      schema !== null &&
      !Array.isArray(schema) && { responseSchema: schema as Record<string, JsonValue> }),
    ...attributed(event),
  };
}
