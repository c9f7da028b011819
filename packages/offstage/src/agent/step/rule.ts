// Rules on a step: criteria decide whether the run continues, and output guardrails whether its answer is released. Asks the
// guardrails of the other stages too, and records every trip.
import { type Message, textOf, withMetadata, withoutProviderParts } from "../../messages/message.ts";
import type { AgentState } from "../../state/agent-state.ts";
import { type AskOptions, askCriteria } from "../../state/criterion.ts";
import type { Outcome } from "../../state/outcome.ts";
import type { Step } from "../../state/step.ts";
import { partialAnswer } from "../../state/turn-of.ts";
import {
  checkGuardrails,
  type Guardrail,
  type GuardrailLists,
  type Guardrails,
  type GuardrailTrip,
} from "../ports/guardrails.ts";
import type { Run } from "../run/run.ts";
import { releaseText } from "./call-model.ts";
import { freezeStep, noteMessage } from "./make-step.ts";

/** The state after a step, with an outcome if the run ends here. */
export async function rule(run: Run, state: AgentState): Promise<AgentState> {
  const step = state.currentStep as Step;
  const { outcome, feedback } = await askCriteria(run.limits.criteria, state, askedIn(run, step));
  const { isAnswer } = step;
  if (outcome !== undefined)
    return isAnswer ? endWithAnswer(run, state, outcome) : endWithoutAnswer(run, state, outcome);
  if (step.toolCalls.length > 0) return state;
  const checked = await checkDraft(run, state);
  return isAnswer ? sendBack(run, checked, feedback) : checked;
}

/** The state before the first step, with an outcome if a limit has been reached already. */
export async function ruleBefore(run: Run, state: AgentState): Promise<AgentState> {
  if (state.outcome !== undefined || state.pendingStep !== undefined) return state;
  const { criteria } = run.limits;
  // Before the first step only shared limits apply: all other criteria judge steps.
  const asked = state.stepCount > 0 ? criteria : criteria.filter(({ isShared }) => isShared);
  if (asked.length === 0) return state;
  const { outcome } = await askCriteria(asked, state, askedIn(run, undefined));
  return outcome === undefined ? state : state.withOutcome(outcome);
}

function askedIn({ record, agent, scope }: Run, step: Step | undefined): AskOptions {
  return { step, namespace: record.log?.namespace, agent: agent.name, cancellation: scope.cancellation };
}

async function endWithAnswer(run: Run, state: AgentState, outcome: Outcome): Promise<AgentState> {
  const ended = outcome.status === "stopped" ? markInterrupted(state) : state;
  const blocked = await blockedAnswer(run, ended.currentStep as Step);
  if (blocked !== undefined) return withholdText(ended).withOutcome(blocked);
  releaseText(run, ended.stepCount);
  return ended.withOutcome(outcome);
}

// A run stopped by a limit has an incomplete answer.
function markInterrupted(state: AgentState): AgentState {
  const step = state.currentStep as Step;
  const messages = step.messages.map((message) => withMetadata(message, { interrupted: true }));
  return state.withCurrentStep(freezeStep({ ...step, messages }));
}

// The partial text of a stopped run is returned like an answer, so the output guardrails check it too.
async function endWithoutAnswer(run: Run, state: AgentState, outcome: Outcome): Promise<AgentState> {
  const partial = outcome.status === "stopped" ? partialAnswer(state) : undefined;
  if (partial === undefined) return (await checkDraft(run, state)).withOutcome(outcome);
  const step = state.currentStep as Step;
  const text = textOf(partial);
  const blocked = await blockedAnswer(run, { ...step, text });
  if (blocked === undefined) return releaseDraft(run, state).withOutcome(outcome);
  return (step.text === text ? withholdText(state) : state).withOutcome(blocked);
}

// A reply that is neither an answer nor beside tool calls goes back to the model. What a guardrail blocks of it is withheld, and the run
// continues.
async function checkDraft(run: Run, state: AgentState): Promise<AgentState> {
  const step = state.currentStep as Step;
  if (step.toolCalls.length > 0) return state;
  const blocked = await blockedAnswer(run, step);
  return blocked === undefined ? releaseDraft(run, state) : withholdText(state);
}

function releaseDraft(run: Run, state: AgentState): AgentState {
  const { toolCalls, index } = state.currentStep as Step;
  if (toolCalls.length === 0) releaseText(run, index);
  return state;
}

// An answer that is sent back becomes tool trace, followed by the feedback for the model.
function sendBack(run: Run, state: AgentState, feedback = "Continue."): AgentState {
  const step = state.currentStep as Step;
  const note = noteMessage(run, feedback, step.index);
  return state.withCurrentStep(freezeStep({ ...step, isAnswer: false, messages: [...step.messages, note] }));
}

async function blockedAnswer(run: Run, { text, index }: Step): Promise<Outcome | undefined> {
  const subject = { text, output: run.draft.output ?? text };
  return blockedOutcome(await guard(run, "output", { subject, step: index }));
}

/** The outcome of a run if an input guardrail blocks these messages. */
export async function blockedInput(run: Run, messages: readonly Message[]): Promise<Outcome | undefined> {
  if (run.agent.guardrails.input.length === 0) return undefined;
  const subject = { text: messages.map(textOf).join("\n"), messages };
  return blockedOutcome(await guard(run, "input", { subject }));
}

/** The state without a reply that the output guardrails should have checked and have not, because the run failed or was aborted. */
export function withoutUnchecked({ agent }: Run, state: AgentState): AgentState {
  const { toolCalls } = state.currentStep as Step;
  return agent.guardrails.output.length === 0 || toolCalls.length > 0 ? state : withholdText(state);
}

// Replaces the text of the newest reply wherever the step has it. Tool calls and their results stay.
function withholdText(state: AgentState): AgentState {
  const { reasoning: _, ...step } = state.currentStep as Step;
  const content = step.toolCalls.length === 0 ? "[withheld by a guardrail]" : null;
  const messages = step.messages.map((message): Message => {
    if (message.role !== "assistant") return message;
    const bare = withMetadata(withoutProviderParts(message), { isWithheld: true });
    return { ...bare, content } as Message;
  });
  return state.withCurrentStep(freezeStep({ ...step, text: "", isAnswer: false, messages }));
}

type Subject<Stage extends keyof Guardrails> = Parameters<GuardrailLists[Stage][number]["check"]>[0];

/** The step and the tool call that a guardrail is asked about. */
export interface GuardPlace {
  readonly step?: number;
  readonly toolCallId?: string;
}

/** Asks the guardrails of one stage about a subject. Records and returns the trips. */
export async function guard<Stage extends keyof Guardrails>(
  run: Run,
  stage: Stage,
  { subject, step, toolCallId }: GuardPlace & { readonly subject: Subject<Stage> },
): Promise<readonly GuardrailTrip[]> {
  const guardrails = run.agent.guardrails[stage] as readonly Guardrail<Subject<Stage>>[];
  if (guardrails.length === 0) return [];
  const { context, cancellation } = run.scope;
  const about = { stage, context, signal: cancellation.signal, runId: run.identity.runId, agent: run.agent.name };
  const found = await checkGuardrails(guardrails, subject, about);
  const trips = toolCallId === undefined ? found : found.map((trip) => ({ ...trip, toolCallId }));
  run.record.trips.push(...trips);
  for (const trip of trips) run.record.emit?.({ type: "guardrail-trip", ...(step !== undefined && { step }), trip });
  return trips;
}

/** The outcome of a run that guardrails blocked; undefined if there is no trip. */
function blockedOutcome([trip]: readonly GuardrailTrip[]): Outcome | undefined {
  return trip && { status: "stopped", reason: "guardrail", message: trip.message };
}
