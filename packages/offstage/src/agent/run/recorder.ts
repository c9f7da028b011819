// The recorder: through it a run reaches its journal, its listeners, its spans and the agent's own list. It numbers messages, and adds
// run id and agent to every event.
import type { JsonObject } from "../../base/json.ts";
import type { AssistantMessage, Message, MessageMetadata } from "../../messages/message.ts";
import type { EndRefusal, RunEnd, RunLog, StepInput } from "../../sessions/ports/journal.ts";
import type { StepRecord, VoteRecord } from "../../sessions/ports/run-record.ts";
import type { AgentState } from "../../state/agent-state.ts";
import type { NamedVerdict, Outcome } from "../../state/outcome.ts";
import type { Step } from "../../state/step.ts";
import { noUsage } from "../../tokens/usage.ts";
import type { SpanData } from "../../tracing/span-data.ts";
import { inSpan, type TraceSpan } from "../../tracing/trace-span.ts";
import type { EndedSpans } from "../../tracing/tracing-options.ts";
import type { AgentEvent, Emit } from "../ports/events.ts";
import type { GuardrailTrip } from "../ports/guardrails.ts";
import type { RunResult } from "../ports/run-result.ts";
import type { Draft, RunScope, StepPlace } from "./run-parts.ts";
import { StopRequest } from "./stop-request.ts";
import { type SubagentRun, withSubagents } from "./subagent-run.ts";

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
  /** The new messages of this run. Frozen, because hooks and guardrails see them before they are stored. */
  input: readonly Message[];
  /** The results of subagents, in the order in which they ended. */
  readonly children: RunResult<unknown>[] = [];
  /** The same with the calls that they answer, and also those that wait. */
  readonly subagents: SubagentRun[] = [];
  readonly trips: GuardrailTrip[] = [];
  /** Emits an event to all listeners. Undefined if there is none. */
  readonly emit: ((event: EventBody) => void) | undefined;
  readonly #parts: RecorderParts;
  #latest = { ms: Number.NaN, text: "" };
  #lastNumber = 0;
  #recordedSteps = 0;
  #trackedSubagents = 0;
  #isResumed = false;
  /** The parts of an end that was refused, for the next attempt. */
  #refused: { readonly step: StepRecord | undefined; readonly spans: readonly SpanData[] } | undefined;

  constructor(parts: RecorderParts, input: readonly Message[]) {
    const { emit, runId, agent } = parts;
    this.#parts = parts;
    this.emit = emit && ((event) => emit({ runId, agent, ...event } as AgentEvent));
    this.input = input.map((message) => {
      // As input, a subagent's message is an ordinary one.
      const { parentRunId: _, ...own } = message.metadata ?? {};
      return Object.freeze({ ...message, metadata: Object.freeze({ ...this.stamp(), ...own, runId }) });
    });
  }

  /** Creates the metadata of the run's next message. Without `at`, it is a message of the input. */
  stamp(at?: MessagePlace, number: number = this.reserve(1)): Stamp {
    const { runId, parentRunId, agent, startedAt } = this.#parts;
    const id = `${runId}.${number}`;
    const parent = parentRunId === undefined ? undefined : { parentRunId };
    if (at === undefined) return { id, createdAt: startedAt, runId, agent, ...parent };
    const { step, span } = at;
    const stamp: Stamp = { id, createdAt: this.#now(), runId, step, agent, ...parent };
    if (span?.recording) Object.assign(stamp, { traceId: span.traceId, spanId: span.spanId });
    return stamp;
  }

  // A step has three dates, mostly within one millisecond. Formatting each of them would take 1.6 µs of a step of 12.
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
        if (cancellation.signal.aborted) opened.then(endAborted).catch(() => undefined);
        throw error;
      }
    });
    if (reentrancy !== undefined) reentrancy.held = this.log.held;
    this.log.onStop((reason) => cancellation.abort(new StopRequest(reason)));
    return this.log;
  }

  /** Adds messages to the agent's own list, with those of the subagents that ended since the last step. */
  track(messages: readonly Message[]): void {
    const { tracked } = this.#parts;
    const ended = this.subagents.slice(this.#trackedSubagents);
    this.#trackedSubagents = this.subagents.length;
    // A resumed run adds the messages of its open step again, and a subagent has added its own.
    if (this.#isResumed || ended.length > 0) tracked.replace(withSubagents(messages, ended));
    else tracked.add(messages);
  }

  /** Adds the result of a subagent, which answers a call of this run or waits. */
  addSubagent(subagent: SubagentRun): void {
    this.subagents.push(subagent);
    if (subagent.result.outcome.status !== "waiting") this.children.push(subagent.result);
  }

  /** Emits an event for each message. */
  announce(messages: readonly Message[], step?: number): void {
    if (this.emit === undefined) return;
    for (const message of messages) this.emit({ type: "message-added", ...(step !== undefined && { step }), message });
  }

  /** Continues the numbering of messages after these ones. */
  resume(messages: readonly Message[]): void {
    this.#isResumed = true;
    const prefix = `${this.#parts.runId}.`;
    const own = messages.flatMap(({ metadata }) => (metadata?.id?.startsWith(prefix) ? [metadata.id] : []));
    const numbers = own.map((id) => Number(id.slice(prefix.length))).filter(Number.isSafeInteger);
    this.#lastNumber = numbers.reduce((highest, number) => Math.max(highest, number), 0);
  }

  /** Runs one step in its span. */
  inStep<T>(step: number, work: (span: TraceSpan) => Promise<T>): Promise<T> {
    const { scope, draft } = this.#parts;
    this.emit?.({ type: "step-start", step });
    draft.startedAt = this.#now();
    draft.startedMs = performance.now();
    const init = { name: "step", kind: "step" as const, metadata: { step } };
    return inSpan(scope.span, init, work, scope.cancellation.signal);
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
  async intend(at: StepPlace, message: AssistantMessage, waiting: readonly string[]): Promise<void> {
    await this.log?.intend(at.step, message, waiting, this.#takeInput());
  }

  /** Announces a finished step, and adds it to the agent's own list. */
  finish({ currentStep }: AgentState): void {
    const { draft } = this.#parts;
    const step = currentStep as Step;
    draft.text = "";
    draft.messages = undefined;
    this.track(step.messages);
    this.announce(step.messages, step.index);
    this.emit?.({ type: "step-end", step: step.index, result: step });
  }

  /** Journals a finished step. The last step of a run is written together with the end instead, and a pending one once it is finished. */
  async step({ currentStep, pendingStep, outcome }: AgentState): Promise<void> {
    const { log } = this;
    if (log === undefined || outcome !== undefined || pendingStep !== undefined) return;
    const step = currentStep as Step;
    const spans = takeSpans(this.#parts.endedSpans);
    const record = { ...this.#stepRecord(step, undefined), ...(spans.length > 0 && { spans }) };
    await this.#inSessionSpan("session.step", () => log.step(record));
    this.#recordedSteps = step.index;
  }

  /** Tracks and announces messages that joined the run behind a step; 0 is the input. */
  joined(messages: readonly Message[], step: number): void {
    this.track(messages);
    for (const message of messages) this.emit?.({ type: "message-joined", ...(step > 0 && { step }), message });
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

  /**
   * Journals the end of the run, with its last step and the run's own span as it is about to end. If the end is refused, the parts of
   * the step are kept for the next write.
   */
  async end(end: RunEnd, { lastStep, verdicts, span }: LastParts): Promise<EndRefusal | undefined> {
    const { log } = this;
    if (log === undefined) return undefined;
    const { endedSpans, draft } = this.#parts;
    const isUnwritten = lastStep !== undefined && lastStep.index > this.#recordedSteps;
    const step = isUnwritten ? { ...this.#refused?.step, ...this.#stepRecord(lastStep, verdicts) } : undefined;
    const failed = this.#takeInput();
    const retries = draft.retries.splice(0);
    const spans = [...(this.#refused?.spans ?? []), ...takeSpans(endedSpans)];
    const parts = {
      ...(step && { lastStep: step }),
      ...(failed && { failedInput: { ...failed, ...(retries.length > 0 && { retries }) } }),
      ...(spans.length > 0 && { spans: [...spans, span] }),
    };
    const refusal = await this.#inSessionSpan("session.end", () => log.end({ ...end, ...parts }));
    this.#refused = refusal && { step, spans };
    return refusal;
  }

  #stepRecord(step: Step, verdicts: Outcome["verdicts"]): StepRecord {
    const { draft } = this.#parts;
    const { notes } = draft;
    const retries = draft.retries.splice(0);
    const call = this.#takeInput();
    draft.notes = undefined;
    return {
      ...stepRecord(step),
      ...(call?.step === step.index && { provider: call.input.setup.provider, input: call.input }),
      ...(retries.length > 0 && { retries }),
      ...(verdicts !== undefined && { verdicts: verdicts.map(voteRecord) }),
      ...(notes !== undefined && { notes }),
    };
  }

  // The input of the latest model call, unless it was recorded with its step.
  #takeInput(): StepInput | undefined {
    const { draft } = this.#parts;
    const { input } = draft;
    draft.input = undefined;
    return input;
  }

  #inSessionSpan<T>(name: string, work: () => Promise<T>): Promise<T> {
    const { span, cancellation } = this.#parts.scope;
    return inSpan(span, { name, kind: "session" }, work, cancellation.signal);
  }
}

/** The latest messages of an agent's runs, oldest first; at most `keep` of them. */
export class TrackedMessages {
  readonly #keep: number;
  #messages: Message[] = [];

  constructor(keep: number) {
    this.#keep = keep;
  }

  /** Adds messages. Leaves out what is none: a state of the caller's may have anything. */
  add(messages: readonly Message[]): void {
    if (this.#keep === 0) return;
    for (const message of messages) if (message?.role !== undefined) this.#messages.push(message);
    // Trimmed only when they are twice as many, so that adding is cheap.
    if (this.#messages.length > this.#keep * 2) this.#messages = this.#messages.slice(-this.#keep);
  }

  /** Adds messages, in place of those with the same ids. */
  replace(messages: readonly Message[]): void {
    const ids = new Set(messages.map((message) => message?.metadata?.id));
    this.#messages = this.#messages.filter(({ metadata }) => metadata?.id === undefined || !ids.has(metadata.id));
    this.add(messages);
  }

  all(): readonly Message[] {
    return this.#messages.slice(-this.#keep);
  }

  clear(): void {
    this.#messages = [];
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

/** A step as the journal keeps it, without what only its run knows. */
export function stepRecord(step: Step): StepRecord {
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
