// The recorder: the only part of a run that writes to its journal, emits events, opens spans and adds to the agent's own list. It
// numbers messages, and adds run id and agent to every event.
import type { JsonObject } from "../../base/json.ts";
import {
  type AssistantMessage,
  type Message,
  type MessageMetadata,
  type ToolMessage,
  withEditedCall,
} from "../../messages/message.ts";
import type { CallChange, EndRefusal, RunEnd, RunLog } from "../../sessions/ports/journal.ts";
import type { QuestionRecord, StepRecord, VoteRecord } from "../../sessions/ports/run-record.ts";
import type { PendingMessage } from "../../sessions/ports/session.ts";
import type { AgentState } from "../../state/agent-state.ts";
import type { NamedVerdict, Outcome } from "../../state/outcome.ts";
import type { Step, StepToolCall } from "../../state/step.ts";
import { noUsage } from "../../tokens/usage.ts";
import type { SpanData } from "../../tracing/span-data.ts";
import { inSpan, type TraceSpan } from "../../tracing/trace-span.ts";
import type { EndedSpans } from "../../tracing/tracing-options.ts";
import type { AgentEvent, Emit } from "../ports/events.ts";
import type { GuardrailTrip } from "../ports/guardrails.ts";
import type { RunResult } from "../ports/run-result.ts";
import type { Draft, RunScope, StepPlace, StepStart } from "./run-parts.ts";
import { StopRequest } from "./stop-request.ts";
import { type SubagentRun, withSubagents } from "./subagent-run.ts";
import type { TrackedMessages } from "./tracked-messages.ts";

/** An event without run id and agent, which the recorder adds. */
export type EventBody<Event = AgentEvent> = Event extends AgentEvent ? Omit<Event, "runId" | "agent"> : never;

/** Metadata of a message that is being built. */
export type Stamp = { -readonly [Key in keyof MessageMetadata]: MessageMetadata[Key] };

/** The step of a message, and the span that it came from. */
type MessagePlace = Pick<StepPlace, "step"> & Partial<StepPlace>;

export interface RecorderParts {
  readonly runId: string;
  /** Set if this is a subagent's run. */
  readonly parentRunId: string | undefined;
  readonly startedAt: string;
  readonly agent: string;
  readonly scope: RunScope;
  readonly draft: Draft;
  /** The agent's own list of messages. */
  readonly tracked: TrackedMessages;
  /** Undefined if there is no listener. */
  readonly emit: Emit | undefined;
  /** Spans that have ended since the journal was last written to. */
  readonly endedSpans: EndedSpans;
}

export class Recorder {
  /** The journal of this run, once it is open; undefined if it has neither a session nor a journaled parent. */
  log: RunLog | undefined;
  /** The new messages of this run. */
  input: readonly Message[] = [];
  /** The results of subagents, in the order in which they ended. */
  readonly children: RunResult<unknown>[] = [];
  /** The same with the calls that they answer, and also those that wait. */
  readonly subagents: SubagentRun[] = [];
  readonly trips: GuardrailTrip[] = [];
  readonly #parts: RecorderParts;
  #latest = { ms: Number.NaN, text: "" };
  #lastNumber = 0;
  #recordedSteps = 0;
  #trackedSubagents = 0;
  /** The parts of an end that was refused, for the next attempt. */
  #refused: { readonly step: StepRecord | undefined; readonly spans: readonly SpanData[] } | undefined;

  constructor(parts: RecorderParts) {
    this.#parts = parts;
  }

  /** Emits an event to all listeners. */
  emit(event: EventBody): void {
    const { emit, runId, agent } = this.#parts;
    emit?.({ runId, agent, ...event } as AgentEvent);
  }

  /** Creates the metadata of the run's next message. Without `at`, it is a message of the input. */
  stamp(at?: MessagePlace, number: number = this.reserve(1)): Stamp {
    const { runId, parentRunId, agent, startedAt } = this.#parts;
    const id = `${runId}.${number}`;
    const parent = parentRunId === undefined ? undefined : { parentRunId };
    if (at === undefined) return { id, createdAt: startedAt, runId, agent, ...parent };
    const { step, span } = at;
    const stamp = { id, createdAt: this.#now(), runId, step, agent, ...parent };
    return span?.recording ? { ...stamp, traceId: span.traceId, spanId: span.spanId } : stamp;
  }

  // Formatting a date takes 0.5 µs, and a step has three, mostly within one millisecond.
  #now(): string {
    const ms = Date.now();
    if (ms !== this.#latest.ms) this.#latest = { ms, text: new Date(ms).toISOString() };
    return this.#latest.text;
  }

  /** Reserves numbers for later messages, and returns the first. */
  reserve(count: number): number {
    const first = this.#lastNumber + 1;
    this.#lastNumber += count;
    return first;
  }

  /** Opens the journal. Rejects as soon as the run is aborted; if the journal opens after that, the run is ended there too. */
  async open(opening: () => Promise<RunLog>): Promise<RunLog> {
    const { cancellation, reentrancy } = this.#parts.scope;
    this.log = await this.#inSessionSpan("session.open", async () => {
      const opened = opening();
      try {
        return await cancellation.race(opened);
      } catch (error) {
        if (cancellation.isAborted) opened.then(endAborted).catch(() => undefined);
        throw error;
      }
    });
    if (reentrancy !== undefined) reentrancy.held = this.log.held;
    this.log.onStop((reason) => cancellation.abort(new StopRequest(reason)));
    return this.log;
  }

  /** Adds messages to the agent's own list. */
  track(messages: readonly Message[]): void {
    this.#parts.tracked.add(messages);
  }

  /** Adds the messages of a step that waits or was interrupted. Those of the finished step replace them. */
  trackUnfinished(messages: readonly Message[]): void {
    this.#parts.tracked.addUnfinished(this.#parts.runId, this.#withSubagents(messages));
  }

  /** Adds the result of a subagent, which answers a call of this run or waits. */
  addSubagent(subagent: SubagentRun): void {
    this.subagents.push(subagent);
    if (subagent.result.outcome.status !== "waiting") this.children.push(subagent.result);
  }

  /** Emits an event for each message. */
  announce(messages: readonly Message[], step?: number): void {
    if (this.#parts.emit === undefined) return;
    for (const message of messages) this.emit({ type: "message-added", ...(step !== undefined && { step }), message });
  }

  /** Continues the numbering of messages after these ones. */
  resume(messages: readonly Message[]): void {
    const prefix = `${this.#parts.runId}.`;
    const own = messages.flatMap(({ metadata }) => (metadata?.id?.startsWith(prefix) ? [metadata.id] : []));
    const numbers = own.map((id) => Number(id.slice(prefix.length))).filter(Number.isSafeInteger);
    this.#lastNumber = numbers.reduce((highest, number) => Math.max(highest, number), 0);
  }

  /** Runs one step in its span. */
  inStep<T>(step: number, work: (at: StepStart) => Promise<T>): Promise<T> {
    const { span, cancellation } = this.#parts.scope;
    this.emit({ type: "step-start", step });
    const init = { name: "step", kind: "step" as const, metadata: { step } };
    const start = { step, startedAt: this.#now(), startedMs: performance.now() };
    return inSpan(span, init, (stepSpan) => work({ ...start, span: stepSpan }), cancellation.signal);
  }

  /** Runs work of a step in a span of its own. */
  inStepPart<T>(
    at: StepPlace,
    init: { name: string; kind: "model" | "tool" | "compaction"; metadata?: JsonObject },
    work: (span: TraceSpan) => Promise<T>,
  ): Promise<T> {
    const { signal } = this.#parts.scope.cancellation;
    return inSpan(at.span, init, work, signal);
  }

  /** Journals the calls of a reply before they run; `waiting` are the ids of those that need approval first. */
  intend(at: StepPlace, message: AssistantMessage, waiting: readonly string[]): Promise<void> {
    this.#parts.draft.messages = [message];
    return this.log?.intend(at.step, message, waiting, this.#takeInput()?.failedInput) ?? Promise.resolve();
  }

  /** Journals that a call waits: for approval, before it begins, or for the answer to its question. */
  wait(at: StepPlace, call: StepToolCall, question?: QuestionRecord): Promise<void> {
    return this.log?.wait(at.step, call.toolCallId, question) ?? Promise.resolve();
  }

  /** Journals what a person decided about a call while the run works. */
  async decide(at: StepPlace, change: Omit<CallChange, "runId">): Promise<void> {
    const { draft } = this.#parts;
    const [reply, ...rest] = draft.messages ?? [];
    if (reply?.role !== "assistant") return;
    const { toolCallId, editedInput } = change;
    const message = editedInput === undefined ? reply : withEditedCall(reply, toolCallId, editedInput);
    draft.messages = [message, ...rest];
    await this.log?.decide(at.step, change, message);
  }

  /** Journals the result of a call. */
  settle(at: StepPlace, message: ToolMessage): Promise<void> {
    this.#parts.draft.messages?.push(message);
    return this.log?.settle(at.step, message) ?? Promise.resolve();
  }

  trip(trip: GuardrailTrip, step?: number): void {
    this.trips.push(trip);
    this.emit({ type: "guardrail-trip", ...(step !== undefined && { step }), trip });
  }

  /** Announces a finished step and journals it. The last step of a run is written together with the end instead. */
  async step({ currentStep, outcome }: AgentState): Promise<void> {
    const { draft, tracked, endedSpans } = this.#parts;
    const step = freezeStep(currentStep as Step);
    draft.text = "";
    draft.messages = undefined;
    tracked.add(this.#withSubagents(step.messages));
    this.announce(step.messages, step.index);
    this.emit({ type: "step-end", step: step.index, result: step });
    const log = this.log;
    if (log === undefined || outcome !== undefined) return;
    const record = this.#stepRecord(step, undefined);
    const spans = endedSpans.length > 0 ? { spans: takeSpans(endedSpans) } : undefined;
    await this.#inSessionSpan("session.step", async () => log.step({ ...record, ...spans }));
    this.#recordedSteps = step.index;
  }

  /** The messages of the inbox that the run has not seen. */
  async inbox(): Promise<readonly PendingMessage[]> {
    return (await this.log?.inbox()) ?? [];
  }

  /** Journals messages that join the run behind a step. Blocked ones are neither tracked nor announced. */
  async join(joining: readonly PendingMessage[], step: number, isBlocked: boolean): Promise<void> {
    await this.log?.join(step, joining, isBlocked);
    if (!isBlocked)
      this.joined(
        joining.map(({ message }) => message),
        step,
      );
  }

  /** Tracks and announces messages that joined the run behind a step; 0 is the input. */
  joined(messages: readonly Message[], step: number): void {
    this.track(messages);
    for (const message of messages) this.emit({ type: "message-joined", ...(step > 0 && { step }), message });
    this.announce(messages, step > 0 ? step : undefined);
  }

  /** Journals the newest step after its end was refused: it is no longer the last one. */
  async reopenStep(step: Step): Promise<void> {
    const { step: record, spans } = this.#refused ?? {};
    this.#refused = undefined;
    this.#parts.draft.text = "";
    await this.log?.step({ ...record, ...stepRecord(step), spans: spans ?? [] });
    this.#recordedSteps = step.index;
  }

  /** Journals steps that a state has and the journal lacks. */
  async catchUp(steps: readonly Step[]): Promise<void> {
    for (const step of steps) await this.log?.step(stepRecord(step));
  }

  /**
   * Journals the end of the run, with its last step and the run's own span as it is about to end. If the end is refused, the parts of
   * the step are kept for the next write.
   */
  async end(end: RunEnd, { lastStep, verdicts, span }: LastParts): Promise<EndRefusal | undefined> {
    const log = this.log;
    if (log === undefined) return undefined;
    const { endedSpans, draft } = this.#parts;
    const isUnwritten = lastStep !== undefined && lastStep.index > this.#recordedSteps;
    const step = isUnwritten ? { lastStep: { ...this.#refused?.step, ...this.#stepRecord(lastStep, verdicts) } } : {};
    const failed = this.#takeInput()?.failedInput;
    const retries = draft.retries.splice(0);
    const failedInput = failed && { ...failed, ...(retries.length > 0 && { retries }) };
    const spans = [...(this.#refused?.spans ?? []), ...takeSpans(endedSpans)];
    const withSpans = spans.length > 0 ? { spans: [...spans, span] } : undefined;
    const refusal = await this.#inSessionSpan("session.end", async () =>
      log.end({ ...end, ...step, ...withSpans, ...(failedInput && { failedInput }) }),
    );
    this.#refused = refusal && { step: step.lastStep, spans };
    return refusal;
  }

  /** Leaves the re-entrancy scope: code that is called from now on, such as a hook, is not part of this run. */
  leave(): void {
    const { reentrancy } = this.#parts.scope;
    if (reentrancy !== undefined) reentrancy.held = undefined;
  }

  // With the messages of subagents that ended since the last step.
  #withSubagents(messages: readonly Message[]): readonly Message[] {
    if (this.subagents.length === this.#trackedSubagents) return messages;
    const ended = this.subagents.slice(this.#trackedSubagents);
    this.#trackedSubagents = this.subagents.length;
    return withSubagents(messages, ended);
  }

  #stepRecord(step: Step, verdicts: Outcome["verdicts"]): StepRecord {
    const { draft } = this.#parts;
    const { notes } = draft;
    const retries = draft.retries.splice(0);
    const { failedInput } = this.#takeInput() ?? {};
    draft.notes = undefined;
    return {
      ...stepRecord(step),
      ...(failedInput?.step === step.index && {
        provider: failedInput.input.setup.provider,
        input: failedInput.input,
      }),
      ...(retries.length > 0 && { retries }),
      ...(verdicts !== undefined && { verdicts: verdicts.map(voteRecord) }),
      ...(notes !== undefined && { notes }),
    };
  }

  // The input of the latest model call, unless it was recorded with its step.
  #takeInput(): Pick<RunEnd, "failedInput"> | undefined {
    const { draft } = this.#parts;
    const { input } = draft;
    draft.input = undefined;
    return input && { failedInput: input };
  }

  #inSessionSpan<T>(name: string, work: () => Promise<T>): Promise<T> {
    const { span, cancellation } = this.#parts.scope;
    return inSpan(span, { name, kind: "session" }, work, cancellation.signal);
  }
}

interface LastParts {
  readonly lastStep: Step | undefined;
  /** The votes that ended the run. */
  readonly verdicts: Outcome["verdicts"];
  readonly span: SpanData;
}

function voteRecord({ criterion, decision, reason, message }: NamedVerdict): VoteRecord {
  return { criterion, decision, reason, message };
}

// Writes the abort if possible: otherwise the run looks interrupted, and another process may resume it.
async function endAborted(log: RunLog): Promise<void> {
  const { usage = noUsage } = log.recorded ?? {};
  try {
    await log.end({ status: "stopped", reason: "aborted", usage, endedAt: new Date().toISOString(), answer: [] });
  } catch {
    await log.abandon();
  }
}

/** Freezes a step and its messages: criteria, processors and listeners get it before it is stored, and must not change it. */
export function freezeStep(step: Step): Step {
  if (Object.isFrozen(step)) return step;
  for (const message of step.messages) freezeMessage(message);
  Object.freeze(step.messages);
  Object.freeze(step.toolCalls);
  Object.freeze(step.toolResults);
  return Object.freeze(step);
}

function freezeMessage(message: Message): void {
  if (message.role === "assistant" && message.tool_calls) {
    for (const call of Object.freeze(message.tool_calls)) Object.freeze(Object.freeze(call).function);
  }
  Object.freeze(message.metadata);
  Object.freeze(message);
}

function stepRecord(step: Step): StepRecord {
  const { index, messages, usage, cost, modelId, finishReason, startedAt, durationMs, toolResults } = step;
  const clipped = toolResults.filter(({ clippedBytes }) => clippedBytes !== undefined);
  const values = Object.fromEntries(clipped.map(({ toolCallId, output }) => [toolCallId, output]));
  return {
    step: index,
    messages,
    usage,
    cost,
    model: modelId,
    finishReason,
    startedAt,
    durationMs,
    ...(clipped.length > 0 && { values }),
  };
}

// Without prompts and descriptions of tools: the journal has them already, and would have them again with every call.
function takeSpans(ended: EndedSpans): SpanData[] {
  return ended.splice(0).map((span) => {
    const { toolDescription: _, toolType: __, ...metadata } = span.metadata;
    if (span.content === undefined) return { ...span, metadata };
    const { messages: ___, ...content } = span.content;
    return { ...span, metadata, content };
  });
}
