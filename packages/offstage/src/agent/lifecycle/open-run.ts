// Takes messages of users into a run: its input when it opens, with instructions and history, and between two steps its inbox. Both
// are durable before the next model call.
import { OffstageError } from "../../errors.ts";
import type { Message } from "../../messages/message.ts";
import type { Joining, RunLog, RunStart } from "../../sessions/ports/journal.ts";
import type { PendingMessage } from "../../sessions/ports/session.ts";
import { AgentState } from "../../state/agent-state.ts";
import type { Outcome } from "../../state/outcome.ts";
import { joinedOf, turnOf } from "../../state/turn-of.ts";
import { announceCut, historyToLoad, loadHistory } from "../input/history.ts";
import { openPrompt, setUpStep } from "../input/prompt.ts";
import type { Run } from "../run/run.ts";
import { blockedInput, ruleBefore } from "../step/rule.ts";

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
  const history = loaded === undefined || request.hasOwnState ? run.state.messages : loaded;
  if (blocked !== undefined) return run.state.withMessages(history).withOutcome(blocked);
  const state = run.state.withMessages(history.append(record.input));
  if (record.input.length === 0 && hasNothing(state)) throw nothingToAnswer(run.agent.name);
  await openPrompt(run, state);
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

/** The state with the messages of the inbox behind its newest step. If a guardrail blocks them, it has an outcome. */
export async function joinInbox(run: Run, state: AgentState): Promise<AgentState> {
  const { record } = run;
  const { log } = record;
  // Never between a call and its result.
  if (log === undefined || state.outcome !== undefined || state.pendingStep !== undefined) return state;
  const pending = await log.inbox();
  if (pending.length === 0) return state;
  const step = state.stepCount;
  const { messages: joining, blocked } = await guardJoining(run, pending, step);
  await log.join(step, joining, blocked !== undefined);
  if (blocked !== undefined) return state.withOutcome(blocked);
  const messages = joining.map(({ message }) => message);
  record.joined(messages, step);
  return withJoined(run, state, messages);
}

interface Guarded {
  readonly messages: readonly PendingMessage[];
  readonly blocked: Outcome | undefined;
}

/** Stamps messages that join a run, and asks the input guardrails about them. */
export async function guardJoining(run: Run, pending: readonly PendingMessage[], step: number): Promise<Guarded> {
  const { record, identity } = run;
  const messages = pending.map(({ seq, message }) => {
    const stamp = step === 0 ? record.stamp() : record.stamp({ step });
    const { createdAt } = message.metadata ?? {};
    const metadata = { ...stamp, ...message.metadata, ...(createdAt && { createdAt }), isJoined: true };
    return {
      seq,
      message: Object.freeze({ ...message, metadata: Object.freeze({ ...metadata, runId: identity.runId }) }),
    };
  });
  const joining = messages.map(({ message }) => message);
  return { messages, blocked: await blockedInput(run, joining) };
}

/** Lets a run that begins take in its inbox. The same messages are guarded once, however often the write is tried. */
export function joinAtStart(run: Run): {
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

// Before the first step they are input; later they belong to the step that they follow.
function withJoined(run: Run, state: AgentState, messages: readonly Message[]): AgentState {
  const { currentStep } = state;
  if (currentStep === undefined) {
    run.record.input = [...run.record.input, ...messages];
    return state.withMessages(state.messages.append(messages));
  }
  const section = run.agent.options.separateToolTrace
    ? AgentState.EXECUTION_BUFFER_SECTION
    : AgentState.DEFAULT_SECTION;
  const step = Object.freeze({ ...currentStep, messages: Object.freeze([...currentStep.messages, ...messages]) });
  return state.withCurrentStep(step).withSection(section, state.section(section).append(messages));
}

/**
 * The state of a run that was about to answer and has something in its inbox: its answer becomes a draft, and the run goes on.
 * Undefined if a limit forbids another step; the inbox is then left for the next run.
 */
export async function reopenAnswer(run: Run, state: AgentState): Promise<AgentState | undefined> {
  const { currentStep } = state;
  const said = (await run.record.log?.inbox()) ?? [];
  if (currentStep === undefined || said.length === 0) return undefined;
  const draft = Object.freeze({ ...currentStep, isAnswer: false });
  const open = withDraft(run, state, state.withCurrentStep(draft).withOutcome(undefined));
  return (await ruleBefore(run, open)).outcome === undefined ? open : undefined;
}

// If the tool trace is separate, the end of the run had emptied the buffer and added the answer.
function withDraft({ agent }: Run, ended: AgentState, open: AgentState): AgentState {
  if (!agent.options.separateToolTrace) return open;
  const said = ended.messages.length - turnOf(ended).length - joinedOf(ended).length;
  const trace = open.steps.flatMap((step) => step.messages);
  return open.withMessages(open.messages.slice(0, said)).withSection(AgentState.EXECUTION_BUFFER_SECTION, trace);
}
