// Turns the events of a run into those that a client may see. Live runs and recorded ones go through here, and only here.
import type { AgentEvent } from "../../agent/ports/events.ts";
import type { RunResult } from "../../agent/ports/run-result.ts";
import { type JsonValue, parseJson } from "../../base/json.ts";
import { isOffstageError } from "../../errors.ts";
import { type Message, textOf } from "../../messages/message.ts";
import type { Approval } from "../../sessions/ports/run-record.ts";
import type { StepToolCall, ToolResult } from "../../state/step.ts";
import { partsOf } from "./message-parts.ts";
import type { ServedApprovalRequest, ServedEvent, ServedRunEnd, ServedSubagent } from "./served-event.ts";
import { detailOf, type Show, type ToolDetail } from "./show.ts";

/** The run that an event is of: the run itself, or one of its subagents. */
export interface Place {
  /** Undefined for the run itself. */
  readonly subagent?: ServedSubagent | undefined;
  /** False if a call above is not shown with `"all"`: then nothing of this subagent is shown either. */
  readonly isShown: boolean;
}

export interface ToldCall {
  readonly step: number;
  /** The id that the run uses. */
  readonly toolCallId: string;
  readonly toolName: string;
}

export const ownRun: Place = { isShown: true };

/** Tells one run. Keeps track of what was told, so that a resumed run continues where it waited. */
export class Teller {
  readonly runId: string;
  readonly #show: Show;
  /** Calls that a person was asked about: they are shown to their end. */
  readonly #asked = new Set<string>();
  /** The questions of calls that wait, as they were told; "" for an approval. A call may ask again. */
  readonly #awaited = new Map<string, string>();
  readonly #started = new Set<string>();
  /** Results of calls that never started, by run. */
  readonly #unstarted = new Map<string, readonly ToolResult[]>();
  /** Calls that were told to start, and not to end. */
  readonly #open = new Map<string, ToldCall & { readonly runId: string }>();
  /** The tools of calls, by their told ids. */
  readonly #tools = new Map<string, string>();
  /** The ids of messages that have joined the run. */
  readonly #joined = new Set<string>();
  /** The step that was told before the run was resumed, and has not ended. */
  #openStep: number | undefined;
  /** Runs whose current step has deltas. */
  readonly #withDeltas = new Set<string>();
  #isAnswerTold = false;
  #lastStep = 1;

  constructor(runId: string, show: Show) {
    this.runId = runId;
    this.#show = show;
  }

  /** The events that a client sees of an event of a live run. */
  tell(event: AgentEvent, place: Place = ownRun): ServedEvent[] {
    switch (event.type) {
      case "run-start":
        return place.subagent === undefined ? [this.start(event.agent, event.isResumed)] : [];
      case "step-start":
        return this.stepStart(event.step, place);
      case "text-delta":
        return this.text(event.step, event.delta, place);
      case "reasoning-delta":
        return this.reasoning(event.step, event.delta, place);
      case "model-retry":
        return this.#reset(event.step, place);
      case "tool-start":
        return this.toolStart(event, inputOf(event.call.inputText), place);
      case "tool-progress":
        return this.#progress(event, event.value, place);
      case "tool-end":
        return this.#toolEnd(event.step, event.result, place);
      case "step-end":
        return [
          ...this.#tellUnstarted(event.step, event.result.toolCalls, place),
          ...this.stepEnd(event.step, event.result.isAnswer, place),
        ];
      case "message-joined":
        return place.subagent === undefined ? this.joined(event.message) : [];
      case "subagent-event":
        return this.tell(event.event, this.below(event, event.event, place));
      case "run-end":
        return place.subagent === undefined ? this.#runEnd(event.result) : [];
      default:
        return [];
    }
  }

  start(agent: string, isResumed?: boolean): ServedEvent {
    return { type: "run-start", runId: this.runId, agent, ...(isResumed === true && { isResumed }) };
  }

  /** The step that was told before the run was resumed is not told again. */
  stepStart(step: number, place: Place = ownRun): ServedEvent[] {
    if (place.subagent === undefined) {
      this.#lastStep = step;
      this.#isAnswerTold = false;
      if (this.#openStep === step) return [];
    }
    this.#withDeltas.delete(this.#runOf(place));
    return place.isShown ? [{ type: "step-start", ...this.#at(step, place) }] : [];
  }

  /** True for the step that waits, or waited before the run was resumed. */
  isOpen(step: number): boolean {
    return this.#openStep === step;
  }

  text(step: number, delta: string, place: Place = ownRun): ServedEvent[] {
    if (!place.isShown || delta === "") return [];
    if (place.subagent === undefined) this.#isAnswerTold = true;
    this.#withDeltas.add(this.#runOf(place));
    return [{ type: "text-delta", ...this.#at(step, place), delta }];
  }

  reasoning(step: number, delta: string, place: Place = ownRun): ServedEvent[] {
    if (this.#show !== "trace" || !place.isShown || delta === "") return [];
    this.#withDeltas.add(this.#runOf(place));
    return [{ type: "reasoning-delta", ...this.#at(step, place), delta }];
  }

  #reset(step: number, place: Place): ServedEvent[] {
    return this.#withDeltas.delete(this.#runOf(place)) ? [{ type: "step-reset", ...this.#at(step, place) }] : [];
  }

  toolStart(call: ToldCall, input: JsonValue, place: Place = ownRun): ServedEvent[] {
    const told = this.#toldCall(call, place);
    const { toolCallId, toolName } = told;
    this.#tools.set(toolCallId, toolName);
    this.#awaited.delete(toolCallId);
    const detail = this.#detail(told, place);
    if (detail === "nothing") return [];
    const isResumed = this.#started.has(toolCallId);
    this.#started.add(toolCallId);
    this.#open.set(toolCallId, told);
    const shown = detail === "name" ? undefined : { input };
    return [{ type: "tool-start", ...told, ...shown, ...(isResumed && { isResumed }) }];
  }

  #progress(call: ToldCall, value: JsonValue, place: Place): ServedEvent[] {
    const told = this.#toldCall(call, place);
    return this.#detail(told, place) === "all" ? [{ type: "tool-progress", ...told, value }] : [];
  }

  // A call that never started, such as one of an unknown tool, is told when its step ends: only then its input is known.
  #toolEnd(step: number, result: ToolResult, place: Place): ServedEvent[] {
    if (this.#started.has(toldId(result.toolCallId, place.subagent))) return this.#ended(step, result, {}, place);
    const unstarted = this.#unstarted.get(this.#runOf(place)) ?? [];
    this.#unstarted.set(this.#runOf(place), [...unstarted, result]);
    return [];
  }

  #tellUnstarted(step: number, calls: readonly StepToolCall[], place: Place): ServedEvent[] {
    const results = this.#unstarted.get(this.#runOf(place)) ?? [];
    this.#unstarted.delete(this.#runOf(place));
    return calls.flatMap(({ toolCallId, inputText }) => {
      const result = results.find((each) => each.toolCallId === toolCallId);
      return result === undefined ? [] : this.#ended(step, result, inputOf(inputText), place);
    });
  }

  #ended(step: number, result: ToolResult, input: JsonValue, place: Place): ServedEvent[] {
    const { toolCallId, toolName, clippedBytes, output, content, isError, status } = result;
    const end = {
      input,
      output: clippedBytes === undefined ? output : textOf({ content }),
      status: status ?? (isError ? ("error" as const) : ("ok" as const)),
    };
    return this.toolEnd({ step, toolCallId, toolName }, end, place);
  }

  /** A call that was not told to start is told so first. */
  toolEnd(
    call: ToldCall,
    {
      input,
      output,
      status,
    }: { input: JsonValue; output: JsonValue; status: "ok" | "error" | "rejected" | "interrupted" },
    place: Place = ownRun,
  ): ServedEvent[] {
    const told = this.#toldCall(call, place);
    const detail = this.#detail(told, place);
    if (detail === "nothing") return [];
    const before = this.#started.has(told.toolCallId) ? [] : this.toolStart(call, input, place);
    this.#open.delete(told.toolCallId);
    return [...before, { type: "tool-end", ...told, status, ...(detail === "all" && { output }) }];
  }

  stepEnd(step: number, isAnswer: boolean, place: Place = ownRun): ServedEvent[] {
    if (place.subagent === undefined) this.#openStep = undefined;
    return place.isShown ? [{ type: "step-end", ...this.#at(step, place), isAnswer }] : [];
  }

  /** A message that was said during the run, told once. */
  joined(message: Message): ServedEvent[] {
    const id = message.metadata?.id ?? textOf(message);
    if (this.#joined.has(id)) return [];
    this.#joined.add(id);
    return [{ type: "message-joined", runId: this.runId, message: { id, role: "user", parts: partsOf(message) } }];
  }

  /** The calls that wait for a person, each told once. */
  waiting(approvals: readonly Approval[], step: number): ServedEvent[] {
    this.#openStep = step;
    return approvals.flatMap((approval) => {
      const { toolName, input, runId, agent } = approval;
      const subagent = runId === this.runId ? undefined : { runId, agent };
      const toolCallId = toldId(approval.toolCallId, subagent);
      const awaited = approval.kind === "question" ? approval.message : "";
      if (this.#awaited.get(toolCallId) === awaited) return [];
      this.#awaited.set(toolCallId, awaited);
      this.#asked.add(toolCallId);
      this.#started.add(toolCallId);
      const told = { ...this.#at(step, { subagent, isShown: true }), toolCallId, toolName, input };
      return [{ type: "approval-request", ...told, ...questionOf(approval) }];
    });
  }

  end(end: Omit<ServedRunEnd, "type" | "runId">): ServedEvent {
    return { type: "run-end", runId: this.runId, ...end };
  }

  /** The place of a subagent that a call runs. */
  below(
    { toolCallId }: { toolCallId: string },
    { runId, agent }: { runId: string; agent: string },
    place: Place,
  ): Place {
    const toolName = this.#tools.get(toldId(toolCallId, place.subagent));
    const isAll = toolName === undefined ? this.#show === "trace" : detailOf(this.#show, toolName) === "all";
    return { subagent: { runId, agent }, isShown: place.isShown && isAll };
  }

  #runEnd({ outcome, text, approvals, state }: RunResult<unknown>): ServedEvent[] {
    const { status, reason } = outcome;
    const step = this.#lastStep;
    const unstarted = this.#tellUnstarted(step, state.pendingStep?.step.toolCalls ?? [], ownRun);
    const asked = status === "waiting" ? this.waiting(approvals, step) : [];
    // An answer that no delta has told, because a guardrail or a driver held it back.
    const rest = status === "completed" && !this.#isAnswerTold ? this.text(step, text) : [];
    const error = status === "failed" ? { error: reason } : undefined;
    return [...unstarted, ...asked, ...rest, ...this.#cutOff(status), this.end({ status, reason, ...error })];
  }

  // A run that was stopped or has failed leaves calls that will never end.
  #cutOff(status: string): ServedEvent[] {
    const cut = status === "waiting" ? [] : [...this.#open.values()];
    this.#open.clear();
    return cut.map((call) => ({ type: "tool-end", ...call, status: "interrupted" }));
  }

  #detail({ toolCallId, toolName }: ToldCall, { isShown }: Place): ToolDetail | "input" {
    const detail = isShown ? detailOf(this.#show, toolName) : "nothing";
    return detail !== "all" && this.#asked.has(toolCallId) ? "input" : detail;
  }

  #toldCall({ step, toolCallId, toolName }: ToldCall, place: Place): ToldCall & { runId: string } {
    return { ...this.#at(step, place), toolCallId: toldId(toolCallId, place.subagent), toolName };
  }

  #at(step: number, { subagent }: Place): { runId: string; step: number; subagent?: ServedSubagent } {
    // The names of subagents are not part of the conversation.
    const isTold = subagent !== undefined && this.#show !== "conversation";
    return { runId: this.runId, step, ...(isTold && { subagent }) };
  }

  #runOf({ subagent }: Place): string {
    return subagent?.runId ?? this.runId;
  }
}

function questionOf(approval: Approval): Pick<ServedApprovalRequest, "kind" | "message" | "schema"> {
  if (approval.kind === "call") return { kind: "call" };
  const { message, schema } = approval;
  return { kind: "question", message, ...(schema !== undefined && { schema: schema as JsonValue }) };
}

/** The id under which a client knows a call. Runs may use the same ids, so those of a subagent begin with its run. */
export function toldId(toolCallId: string, subagent: { readonly runId: string } | undefined): string {
  return subagent === undefined ? toolCallId : `${subagent.runId}:${toolCallId}`;
}

/** The input of a call; the text itself if it is not JSON. */
export function inputOf(inputText: string): JsonValue {
  return parseJson(inputText) ?? inputText;
}

/** The code of an error. Its sentence may hold prompts, keys or paths, and stays here. */
export function codeOf(error: unknown): string {
  return isOffstageError(error) ? error.code : "run-failed";
}
