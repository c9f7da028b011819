// Takes what users say while a run works into the run, behind its newest step. It is durable before the next model call.
import type { Message } from "../../messages/message.ts";
import type { PendingMessage } from "../../sessions/ports/session.ts";
import { AgentState } from "../../state/agent-state.ts";
import type { Outcome } from "../../state/outcome.ts";
import { joinedOf, turnOf } from "../../state/turn-of.ts";
import type { Run } from "../run/run.ts";
import { blockedInput, ruleBefore } from "../step/rule.ts";

/** The state with messages of the inbox behind its newest step. If a guardrail blocks them, it has an outcome. */
export async function joinMessages(
  run: Run,
  state: AgentState,
  pending: readonly PendingMessage[],
): Promise<AgentState> {
  const { record } = run;
  const step = state.stepCount;
  const { messages: joining, blocked } = await guardJoining(run, pending, step);
  await record.log?.join(step, joining, blocked !== undefined);
  if (blocked !== undefined) return state.withOutcome(blocked);
  const messages = joining.map(({ message }) => message);
  record.joined(messages, step);
  return withJoined(run, state, messages);
}

export interface Guarded {
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
