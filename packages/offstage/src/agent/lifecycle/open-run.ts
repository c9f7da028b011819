// Creates a run (its identity, cancellation, span and recorder, and its limits, including those of its parents) and opens it: its input
// becomes durable, and instructions and history are loaded.

import { Cancellation } from "../../base/cancellation.ts";
import { OffstageError } from "../../errors.ts";
import type { Message } from "../../messages/message.ts";
import { Messages } from "../../messages/messages.ts";
import { ModelInput, type ModelInputOptions } from "../../models/model-input.ts";
import { promptMessage } from "../../models/prompt.ts";
import { journalFor } from "../../sessions/journal/plain-journal.ts";
import { createReentrancyScope } from "../../sessions/lease/lease.ts";
import type { Joining, Journal, RunLog, RunStart } from "../../sessions/ports/journal.ts";
import type { PendingMessage } from "../../sessions/ports/session.ts";
import { type AgentContext, contextOf } from "../../state/agent-context.ts";
import { AgentState } from "../../state/agent-state.ts";
import { type Criterion, stepLimit } from "../../state/criterion.ts";
import type { Outcome } from "../../state/outcome.ts";
import { Ledger } from "../../tokens/usage.ts";
import { startRootSpan } from "../../tracing/trace-context.ts";
import { startSpan, type TraceSpan, traceIdOf } from "../../tracing/trace-span.ts";
import type { EndedSpans } from "../../tracing/tracing-options.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import type { StepSetup } from "../config/step-setup.ts";
import { announceCut, historyToLoad, loadHistory } from "../input/history.ts";
import { openPrompt, setUpStep } from "../input/prompt.ts";
import type { RunOptions } from "../ports/agent-options.ts";
import type { DecisionBook } from "../ports/decision-book.ts";
import type { Emit } from "../ports/events.ts";
import { emitToHooks } from "../ports/hooks.ts";
import { Recorder, type TrackedMessages } from "../run/recorder.ts";
import type { CallingTool, Run, RunIdentity } from "../run/run.ts";
import type { Draft, RunRequest, RunScope } from "../run/run-parts.ts";
import { blockedInput } from "../step/rule.ts";
import { type Guarded, guardJoining } from "./inbox.ts";

export interface CreateRunOptions {
  /** The new messages of the run. */
  readonly input: readonly Message[];
  readonly options: RunOptions;
  /** Receives every event of a stream. */
  readonly listener?: Emit | undefined;
  /** The tool call that this run answers, for a subagent. */
  readonly caller?: CallingTool | undefined;
  /** The agent's own list of messages. */
  readonly tracked: TrackedMessages;
  /** The state to run on. Default: an empty one. */
  readonly state?: AgentState | undefined;
  /** The id of a run to resume. Default: a new id. */
  readonly runId?: string | undefined;
  readonly decisions?: DecisionBook | undefined;
  /** True if the run's spans are journaled even without a session in the options. */
  readonly keepsSpans?: boolean;
}

/** Creates a run that is ready for the loop. Expects checked options. */
export function createRun(agent: AgentConfig, asked: CreateRunOptions): Run {
  const identity = identityOf(asked);
  const { parent, runId, startedAt } = identity;
  const request = requestOf(agent, asked);
  // Comes first because an invalid step limit throws, and the caller's signal must not have a listener by then.
  const limits = {
    criteria: criteriaOf(agent, asked.options, parent),
    ledger: new Ledger(parent?.limits.ledger),
  };
  const endedSpans: EndedSpans = [];
  const scope: RunScope = {
    cancellation: new Cancellation(asked.options.signal),
    context: parent?.scope.context ?? (contextOf<object>(asked.options.context) as AgentContext),
    span: spanOf(agent, { asked, identity, journal: request.journal, endedSpans }),
    reentrancy: parent === undefined ? createReentrancyScope() : undefined,
  };
  const draft: Draft = {
    startedAt,
    startedMs: 0,
    text: "",
    reasoning: "",
    messages: undefined,
    finished: undefined,
    output: undefined,
    notes: undefined,
    input: undefined,
    retries: [],
  };
  const emit = emitOf(agent, { asked, context: scope.context });
  const { tracked } = asked;
  const parentRunId = parent?.identity.runId;
  const names = { runId, parentRunId, agent: agent.name };
  const record = new Recorder({ ...names, startedAt, scope, draft, tracked, emit, endedSpans }, asked.input);
  return {
    identity,
    agent,
    request,
    scope,
    limits,
    input: {
      modelInput: new ModelInput(agent.driver?.toPrompt ?? promptMessage, "", { runId, caches: cachesOf(agent) }),
      downloads: undefined,
      setup: agent.setup as StepSetup,
      failedModels: new WeakSet(),
      setUpFor: 0,
      instructions: Messages.empty(),
      toolHistory: undefined,
      historyCut: undefined,
      compaction: undefined,
      feed: undefined,
    },
    record,
    draft,
    state: (asked.state ?? AgentState.empty()).withRun({
      runId,
      startedAt: Date.now(),
      parentAgentId: parent?.state.agentId,
    }),
  };
}

// A memory shows other messages for each question, so only the instructions stay the same from turn to turn.
function cachesOf({ options }: AgentConfig): ModelInputOptions["caches"] {
  if (options.cache === undefined) return undefined;
  return options.memory === undefined ? "turns" : "instructions";
}

function identityOf({ runId, options, caller }: CreateRunOptions): RunIdentity {
  const parent = caller?.run;
  return {
    runId: runId ?? options.runId ?? crypto.randomUUID(),
    startedAt: new Date().toISOString(),
    parent,
    parentToolCallId: caller?.toolCallId,
    depth: parent === undefined ? 0 : parent.identity.depth + 1,
  };
}

function requestOf(agent: AgentConfig, asked: CreateRunOptions): RunRequest {
  const { options, caller, listener, state, decisions } = asked;
  const parent = caller?.run.request;
  const session = parent === undefined ? (options.session ?? agent.options.session) : undefined;
  return Object.freeze({
    options,
    session,
    journal: session && journalFor(session),
    hasOwnState: state !== undefined,
    saidSteps: state?.stepCount ?? 0,
    isStreaming: listener !== undefined || parent?.isStreaming === true,
    decisions: decisions ?? parent?.decisions,
    onApproval: options.onApproval ?? parent?.onApproval ?? agent.options.onApproval,
  });
}

interface EmitParts {
  readonly asked: CreateRunOptions;
  readonly context: AgentContext;
}

function emitOf(agent: AgentConfig, { asked, context }: EmitParts): Emit | undefined {
  const hooks = [agent.options.hooks, asked.options.hooks].filter((each) => each !== undefined);
  const toHooks = hooks.map((each) => emitToHooks(each, { context }));
  const all = [asked.listener, relayTo(asked.caller), ...toHooks].filter((each) => each !== undefined);
  if (all.length === 0) return undefined;
  return (event) => {
    for (const each of all) each(event);
  };
}

// A subagent's events reach its parent's listeners inside events of the parent.
function relayTo(caller: CallingTool | undefined): Emit | undefined {
  if (caller === undefined) return undefined;
  const { run, step, toolCallId } = caller;
  const { emit } = run.record;
  return emit && ((event) => emit({ type: "subagent-event", step, toolCallId, event }));
}

function criteriaOf(agent: AgentConfig, { maxSteps }: RunOptions, parent: Run | undefined): readonly Criterion[] {
  const own =
    maxSteps === undefined
      ? agent.criteria
      : [...agent.criteria.filter(({ name }) => name !== "step-limit"), stepLimit(maxSteps)];
  return parent === undefined ? own : [...own, ...inheritedFrom(parent)];
}

// A shared limit of the parent sees the parent's state, with all tokens used so far by the parent and its subagents.
function inheritedFrom(parent: Run): Criterion[] {
  const { criteria, ledger } = parent.limits;
  return criteria
    .filter((criterion) => criterion.isShared)
    .map((criterion) => ({
      name: `${criterion.name} of ${parent.agent.name}`,
      isShared: true,
      decide: (_, asking) => criterion.decide(parent.state.withUsage(ledger.usageByModel), asking),
    }));
}

interface SpanParts {
  readonly asked: CreateRunOptions;
  readonly identity: RunIdentity;
  readonly journal: Journal | undefined;
  readonly endedSpans: EndedSpans;
}

function spanOf(agent: AgentConfig, { asked, identity, journal, endedSpans }: SpanParts): TraceSpan {
  const { options, caller } = asked;
  const tracing = options.tracing ?? agent.options.tracing;
  const parent = agent.options.tracing === false ? undefined : caller?.span;
  const session = options.session ?? agent.options.session;
  const { runId } = identity;
  const { model } = agent.setup ?? {};
  const metadata = {
    agent: agent.name,
    ...(model && { provider: model.provider, model: model.modelId }),
    runId,
    ...(session && { sessionId: session.sessionId }),
  };
  const init = { name: agent.name, kind: "run" as const, metadata };
  if (parent !== undefined) return startSpan(parent, init);
  const isKept = asked.keepsSpans || journal?.keepsSpans;
  return startRootSpan({
    ...init,
    traceName: agent.name,
    // A resumed run gets a new trace.
    traceId: asked.runId === undefined ? traceIdOf(runId) : undefined,
    groupId: session?.sessionId,
    tracing,
    kept: isKept ? endedSpans : undefined,
  });
}

/** Returns the state for the first step. Blocked input does not join the conversation. */
export async function openRun(run: Run): Promise<AgentState> {
  const { identity, record, request, scope } = run;
  const { parent } = identity;
  record.emit?.({ type: "run-start", ...(parent && { parentRunId: parent.identity.runId }), input: record.input });
  scope.cancellation.signal.throwIfAborted();
  const ownBlocked = await blockedInput(run, record.input);
  await setUpStep(run, run.state.stepCount + 1);
  record.track(record.input);
  const inbox = joinAtStart(run);
  const log = await openLog(run, ownBlocked === undefined ? { join: inbox.join } : { isBlocked: true });
  const blocked = ownBlocked ?? inbox.blocked();
  if (blocked === undefined && log !== undefined && log.joined.length > 0) {
    record.joined(log.joined, 0);
    record.input = [...log.joined, ...record.input];
  }
  record.announce(record.input.filter(({ metadata }) => metadata?.isJoined !== true));
  const loaded = log && (await loadHistory(run, log));
  announceCut(run);
  const history = loaded === undefined || request.hasOwnState ? run.state.messages : Messages.from(loaded);
  if (blocked !== undefined) return run.state.withMessages(history).withOutcome(blocked);
  const state = run.state.withMessages(history.append(record.input));
  if (record.input.length === 0 && hasNothing(state)) throw nothingToAnswer(run.agent.name);
  if (run.agent.isShortened) await openPrompt(run, state);
  return state;
}

/** Opens the journal of a run that has a session or a journaled parent. Makes the input and the record of the run durable. */
export async function openLog(run: Run, opening: Opening = {}): Promise<RunLog | undefined> {
  const { identity, request, record } = run;
  const parentLog = identity.parent?.record.log;
  const { journal } = request;
  if (journal === undefined && parentLog === undefined) return undefined;
  const start = runStart(run, opening);
  return record.open(async () => (journal === undefined ? (parentLog as RunLog).child(start) : journal.open(start)));
}

interface Opening extends Pick<RunStart, "join"> {
  /** A guardrail blocked the input. */
  readonly isBlocked?: boolean;
}

function runStart(run: Run, { isBlocked = false, join }: Opening): RunStart {
  const { identity, agent, request, scope, record } = run;
  const { parent, parentToolCallId } = identity;
  const { model } = run.input.setup;
  return {
    runId: identity.runId,
    isFresh: request.options.runId === undefined,
    refusesKnown: true,
    agent: agent.name,
    model: model.modelId,
    provider: model.provider,
    startedAt: identity.startedAt,
    input: isBlocked ? [] : record.input,
    ...historyToLoad(run),
    onBusy: request.options.onBusy === "reject" ? "reject" : "queue",
    ...(join && { join }),
    signal: scope.cancellation.signal,
    ...(parent !== undefined && { parentRunId: parent.identity.runId }),
    ...(parentToolCallId !== undefined && { parentToolCallId }),
    ...(scope.span.recording && { traceId: scope.span.traceId }),
  };
}

function hasNothing(state: AgentState): boolean {
  return state.sectionsForInference().every((section) => section.isEmpty);
}

function nothingToAnswer(agent: string): OffstageError {
  return new OffstageError(
    "invalid-argument",
    `Agent "${agent}" has nothing to answer: no message was passed and the conversation is empty. Pass at least one user message.`,
  );
}

// Lets a run that begins take in its inbox. The same messages are guarded once, however often the write is tried.
function joinAtStart(run: Run): {
  readonly join: (pending: readonly PendingMessage[]) => Promise<Joining>;
  readonly blocked: () => Outcome | undefined;
} {
  let key = "";
  let guarded: Guarded = { messages: [], blocked: undefined };
  return {
    join: async (pending) => {
      const next = pending.map(({ seq }) => seq).join();
      if (next !== key) guarded = await guardJoining(run, pending, 0);
      key = next;
      return { messages: guarded.messages, isBlocked: guarded.blocked !== undefined };
    },
    blocked: () => guarded.blocked,
  };
}
