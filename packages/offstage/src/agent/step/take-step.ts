// One step and what comes of it: the innermost part of the processor chain, the same for all drivers.
import { messageOf, OffstageError } from "../../errors.ts";
import { type Message, textOf, withMetadata, withoutProviderParts } from "../../messages/message.ts";
import type { AgentState } from "../../state/agent-state.ts";
import { type Criterion, type Ruling, rule } from "../../state/criterion.ts";
import type { Outcome } from "../../state/outcome.ts";
import type { PendingStep } from "../../state/pending-step.ts";
import type { Step } from "../../state/step.ts";
import { partialAnswer } from "../../state/turn-of.ts";
import { startSpan, type TraceSpan } from "../../tracing/trace-span.ts";
import { checkGuardrails } from "../ports/guardrails.ts";
import type { Run } from "../run/run.ts";
import { noteMessage } from "../run/step-messages.ts";
import { releaseText } from "./call-model.ts";
import { tripped } from "./call-tools.ts";
import { makeStep } from "./make-step.ts";

/** The state after one more step, with its outcome where the run ends here. */
export function takeStep(run: Run, state: AgentState): Promise<AgentState> {
  // With `then`: an `await` costs a frame more in every step.
  if (run.cancellation.isAborted) return Promise.reject(run.cancellation.reason);
  const step = state.stepCount + 1;
  const span = run.isTraced ? startSpan(run.span, { name: "step", kind: "step", metadata: { step } }) : run.span;
  run.emit?.({ type: "step-start", runId: run.runId, agent: run.config.name, step });
  const taken = makeStep(run, state, span).then((made) => {
    if ("waiting" in made) return paused(run, state, { step: made, span });
    const after = state.withStep(made, run.ledger.usageByModel);
    const ruled = ruling(run, after);
    return "then" in ruled
      ? ruled.then((each) => settled(run, after, { ruling: each, span }))
      : settled(run, after, { ruling: ruled, span });
  });
  return run.isTraced ? taken.catch((error) => failSpan(run, { span, error })) : taken;
}

function failSpan(run: Run, { span, error }: { span: TraceSpan; error: unknown }): never {
  span.fail(error, run.cancellation.signal);
  throw error;
}

interface Settling {
  readonly ruling: Ruling;
  readonly span: TraceSpan;
}

function settled(run: Run, state: AgentState, { ruling, span }: Settling): AgentState | Promise<AgentState> {
  const { outcome, feedback } = ruling;
  if (run.isTraced) span.end();
  if (!state.currentStep?.isAnswer) return outcome === undefined ? state : unanswered(run, state, outcome);
  return outcome === undefined ? sentBack(run, state, feedback) : answered(run, state, outcome);
}

const waitingOutcome: Outcome = { status: "waiting", reason: "approval", message: "Tool calls wait for approval." };

function paused(run: Run, state: AgentState, { step, span }: { step: PendingStep; span: TraceSpan }): AgentState {
  span.end();
  return state.withPendingStep(step).withUsage(run.ledger.usageByModel).withOutcome(waitingOutcome);
}

/** What criteria, by default all of the run, say of a state; synchronous unless one of them is not. A criterion that throws fails the run. */
export function ruling(
  run: Run,
  state: AgentState,
  criteria: readonly Criterion[] = run.criteria,
): Ruling | Promise<Ruling> {
  try {
    const ruled = rule(criteria, state);
    return "then" in ruled ? run.cancellation.race(ruled).catch((cause) => criterionFailed(run, cause)) : ruled;
  } catch (cause) {
    return criterionFailed(run, cause);
  }
}

function criterionFailed(run: Run, cause: unknown): never {
  run.cancellation.throwIfAborted();
  const sentence = `A criterion of agent "${run.config.name}" threw: ${messageOf(cause)}`;
  throw new OffstageError("criterion-failed", sentence, { cause });
}

function answered(run: Run, state: AgentState, outcome: Outcome): AgentState | Promise<AgentState> {
  const given = outcome.status === "stopped" ? interrupted(state) : state;
  return run.config.guardrails.output.length === 0 ? given.withOutcome(outcome) : guarded(run, given, outcome);
}

async function guarded(run: Run, given: AgentState, outcome: Outcome): Promise<AgentState> {
  const blocked = await blockedAnswer(run, given.currentStep as Step);
  if (blocked !== undefined) return withheld(given, blocked);
  releaseText(run, given.stepCount);
  return given.withOutcome(outcome);
}

// An answer with which a run was stopped is cut, or was sent back in vain: it says so.
function interrupted(state: AgentState): AgentState {
  const step = state.currentStep as Step;
  const messages = step.messages.map((message) => withMetadata(message, { interrupted: true }));
  return state.withCurrentStep({ ...step, messages });
}

// What a run had said when it was stopped is given out like an answer, so it is guarded like one.
async function unanswered(run: Run, state: AgentState, outcome: Outcome): Promise<AgentState> {
  const isGuarded = outcome.status === "stopped" && run.config.guardrails.output.length > 0;
  const partial = isGuarded ? partialAnswer(state) : undefined;
  if (partial === undefined) return state.withOutcome(outcome);
  const blocked = await blockedAnswer(run, { ...(state.currentStep as Step), text: textOf(partial) });
  return state.withOutcome(blocked ?? outcome);
}

// An answer that is not the last word becomes tool trace, with what the model is to do next behind it.
function sentBack(run: Run, state: AgentState, feedback = "Continue."): AgentState {
  const step = state.currentStep as Step;
  const note = noteMessage(run, feedback, step.index);
  return state.withCurrentStep({ ...step, isAnswer: false, messages: [...step.messages, note] });
}

async function blockedAnswer(run: Run, step: Step): Promise<Outcome | undefined> {
  const { context, cancellation, runId, config } = run;
  const subject = { text: step.text, output: run.output ?? step.text };
  const about = { stage: "output" as const, context, signal: cancellation.signal, runId, agent: config.name };
  const trips = await checkGuardrails(config.guardrails.output, subject, about);
  for (const trip of trips) tripped(run, trip, step.index);
  return trips[0] === undefined ? undefined : { status: "stopped", reason: "guardrail", message: trips[0].message };
}

// Nobody gets a blocked answer: its place in the messages says so, and the words stay on the step.
function withheld(state: AgentState, outcome: Outcome): AgentState {
  const step = state.currentStep as Step;
  const messages = step.messages.map((message) => {
    const bare = withMetadata(withoutProviderParts(message), { isWithheld: true });
    return { ...bare, content: "[withheld by a guardrail]" } as Message;
  });
  return state.withCurrentStep({ ...step, isAnswer: false, messages }).withOutcome(outcome);
}
