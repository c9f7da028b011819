// Making a run: its own id, signal, ledger and span, its limits and those of the runs above it.

import { Cancellation } from "../../base/cancellation.ts";
import { isoNow } from "../../base/clock.ts";
import type { Message } from "../../messages/message.ts";
import { Messages } from "../../messages/messages.ts";
import { ModelInput } from "../../models/model-input.ts";
import { createReentrancyScope } from "../../sessions/held-session.ts";
import { journalFor } from "../../sessions/plain-journal.ts";
import { type AgentContext, contextOf } from "../../state/agent-context.ts";
import { AgentState, type RunBeginning } from "../../state/agent-state.ts";
import { stepLimit } from "../../state/criteria/limits.ts";
import type { Criterion } from "../../state/criterion.ts";
import type { SpanData } from "../../tracing/span-data.ts";
import { traceIdOf } from "../../tracing/trace-ids.ts";
import { startSpan, type TraceSpan } from "../../tracing/trace-span.ts";
import type { KeepSpan } from "../../tracing/tracing-options.ts";
import { silentSpan, startRootSpan } from "../../tracing/with-span.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import { checkRunOptions } from "../config/option-rules.ts";
import type { RunOptions } from "../ports/agent-options.ts";
import { type DecisionBook, undecided } from "../ports/approvals.ts";
import type { AgentEvent, Emit } from "../ports/events.ts";
import { emitToHooks } from "../ports/hooks.ts";
import type { CallingTool } from "./calling-tool.ts";
import { Ledger } from "./ledger.ts";
import type { Run } from "./run.ts";
import type { TrackedMessages } from "./tracked-messages.ts";

export interface CreateRunOptions {
  /** The new messages of the run. */
  readonly input: readonly Message[];
  /** They were given as text. */
  readonly isTextInput?: boolean;
  readonly options: RunOptions;
  /** Hears every event; a stream has one. */
  readonly listener?: Emit | undefined;
  /** The tool call this run answers, for a subagent. */
  readonly caller?: CallingTool | undefined;
  readonly tracked: TrackedMessages;
  /** The state to run on. Default: an empty one. */
  readonly state?: AgentState | undefined;
  /** The id of a run that is taken up again. Default: a new one. */
  readonly runId?: string | undefined;
  readonly decisions?: DecisionBook | undefined;
  /** Spans are handed to a journal, though the options name no session. */
  readonly keepsSpans?: boolean;
}

/** A run that is ready for the loop. */
export function createRun(config: AgentConfig, given: CreateRunOptions): Run {
  const { input, isTextInput = false, options, listener, caller, tracked, state, runId: known, decisions } = given;
  const parent = caller?.run;
  // First what may refuse the options: a signal that is followed must be let go again.
  checkRunOptions(options);
  const criteria =
    options.maxSteps === undefined && parent === undefined ? config.criteria : criteriaOf(config, options, parent);
  const runId = known ?? crypto.randomUUID();
  const session = parent === undefined ? (options.session ?? config.options.session) : undefined;
  const hasHooks = options.hooks !== undefined || config.options.hooks !== undefined;
  // Most runs have none: no lists are made for them.
  const hasListener = hasHooks || listener !== undefined || caller !== undefined;
  const context = parent?.context ?? (contextOf<object>(options.context) as AgentContext);
  const endedSpans: SpanData[] = [];
  const { keepsSpans } = given;
  const span = spanOf(config, { runId, isNew: known === undefined, options, caller, endedSpans, keepsSpans });
  return {
    config,
    options,
    runId,
    startedAt: isoNow(),
    parent,
    parentToolCallId: caller?.toolCallId,
    depth: parent === undefined ? 0 : parent.depth + 1,
    isStreaming: listener !== undefined || parent?.isStreaming === true,
    hasOwnState: state !== undefined,
    cancellation: new Cancellation(options.signal),
    context,
    session,
    emit: hasListener ? emitOf(config, { options, listener, caller, context }) : undefined,
    decisions: decisions ?? parent?.decisions ?? undecided,
    criteria,
    ledger: new Ledger(parent?.ledger),
    span,
    isTraced: span.recording,
    endedSpans,
    modelInput: new ModelInput(config.driver.toPrompt),
    children: [],
    trips: [],
    tracked,
    input,
    isTextInput,
    frozenInput: undefined,
    frozenAnswer: undefined,
    compaction: undefined,
    feed: undefined,
    stepNotes: undefined,
    instructions: Messages.empty(),
    around:
      parent === undefined && (session !== undefined || known !== undefined) ? createReentrancyScope() : undefined,
    log: undefined,
    state: stateOf(state, { runId, startedAt: Date.now(), parentAgentId: parent?.state.agentId }),
    partialText: "",
    underWay: undefined,
    output: undefined,
    idPrefix: `${runId}.`,
    lastNumber: 0,
    recordedSteps: 0,
    saidSteps: 0,
  };
}

function stateOf(state: AgentState | undefined, beginning: RunBeginning): AgentState {
  return state === undefined ? AgentState.empty(beginning) : state.withRun(beginning);
}

interface EmitOptions extends Pick<CreateRunOptions, "options" | "listener" | "caller"> {
  readonly context: AgentContext;
}

function emitOf(config: AgentConfig, { options, listener, caller, context }: EmitOptions): Emit | undefined {
  const toHooks = emitToHooks([config.options.hooks, options.hooks], { context });
  const all = [listener, relayTo(caller), toHooks].filter((each) => each !== undefined);
  const [only] = all;
  if (all.length <= 1) return only;
  return (event) => {
    for (const each of all) each(event);
  };
}

// A parent's listeners hear of a subagent inside an event of their own run.
function relayTo(caller: CallingTool | undefined): Emit | undefined {
  const emit = caller?.run.emit;
  if (caller === undefined || emit === undefined) return undefined;
  const { run, step, toolCallId } = caller;
  return (event: AgentEvent) =>
    emit({ type: "subagent-event", runId: run.runId, agent: run.config.name, step, toolCallId, event });
}

function criteriaOf(config: AgentConfig, options: RunOptions, parent: Run | undefined): readonly Criterion[] {
  const { maxSteps } = options;
  const own =
    maxSteps === undefined
      ? config.criteria
      : [...config.criteria.filter(({ name }) => name !== "step-limit"), stepLimit(maxSteps)];
  return parent === undefined ? own : [...own, ...inherited(parent)];
}

// The parent's shared limits see the parent's state with everything used so far, by whomever below it.
function inherited(parent: Run): Criterion[] {
  return parent.criteria
    .filter((criterion) => criterion.isShared)
    .map((criterion) => ({
      name: `${criterion.name} of ${parent.config.name}`,
      isShared: true,
      decide: () => criterion.decide(parent.state.withUsage(parent.ledger.usageByModel)),
    }));
}

interface SpanOptions {
  readonly runId: string;
  readonly isNew: boolean;
  readonly options: RunOptions;
  readonly caller: CallingTool | undefined;
  readonly endedSpans: SpanData[];
  readonly keepsSpans: boolean | undefined;
}

function spanOf(config: AgentConfig, about: SpanOptions): Run["span"] {
  const own = config.options.tracing;
  const parent = own === false ? undefined : about.caller?.span;
  const isSilent = parent === undefined && (about.options.tracing ?? own) === false;
  return isSilent ? silentSpan() : recordedSpan(config, parent, about);
}

function recordedSpan(
  config: AgentConfig,
  parent: TraceSpan | undefined,
  { runId, isNew, options, endedSpans, keepsSpans }: SpanOptions,
): TraceSpan {
  const session = options.session ?? config.options.session;
  const sessionId = session === undefined ? undefined : { sessionId: session.sessionId };
  const init = { name: config.name, kind: "run" as const, metadata: { agent: config.name, runId, ...sessionId } };
  if (parent !== undefined) return startSpan(parent, init);
  const isKept = keepsSpans || (session !== undefined && journalFor(session).keepsSpans);
  const keep: KeepSpan | undefined = isKept
    ? (span) => void endedSpans.push(span.content ? withoutPrompt(span.toJSON()) : span)
    : undefined;
  const tracing = options.tracing ?? config.options.tracing;
  const groupId = session?.sessionId;
  // A run that is taken up again is recorded in a trace of its own.
  const traceId = isNew ? traceIdOf(runId) : undefined;
  return startRootSpan({ ...init, traceName: config.name, traceId, groupId, tracing, keep });
}

// The journal has the messages already, and would have them again with every model call.
function withoutPrompt(span: SpanData): SpanData {
  const { messages: _, ...content } = span.content ?? {};
  return { ...span, content };
}
