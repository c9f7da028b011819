// One step: model call, tool calls, then the criteria. The innermost part of the processor chain; the same for all drivers.
import { messageOf, OffstageError } from "../errors.ts";
import type { Message } from "../messages/message.ts";
import type { ModelReply } from "../models/reply.ts";
import type { AgentState } from "../state/agent-state.ts";
import { type Ruling, rule } from "../state/criterion.ts";
import type { Outcome } from "../state/outcome.ts";
import type { Correction, Step, StepToolCall } from "../state/step.ts";
import { startSpan, type TraceSpan } from "../tracing/trace-span.ts";
import { callModel } from "./call-model.ts";
import { callTools, type SettledCall, tripped } from "./call-tools.ts";
import type { Reading } from "./driver.ts";
import { checkGuardrails } from "./guardrails.ts";
import type { Run } from "./run.ts";
import { identifyCalls, noteMessage, replyMessage } from "./step-messages.ts";
import { checkOutput } from "./structured-output.ts";

/** The state after one more step, with its outcome where the run ends here. */
export async function takeStep(run: Run, state: AgentState): Promise<AgentState> {
  run.cancellation.throwIfAborted();
  const index = state.stepCount + 1;
  const span = startSpan(run.span, { name: `step ${index}`, kind: "step" });
  run.emit?.({ type: "step-start", runId: run.runId, agent: run.config.name, step: index });
  try {
    const step = await makeStep(run, state, span);
    const after = state.withStep(step).withUsage(run.ledger.usageByModel);
    const decided = await decide(run, after);
    span.end();
    return decided;
  } catch (error) {
    span.fail(error, run.cancellation.signal);
    throw error;
  }
}

async function makeStep(run: Run, state: AgentState, span: TraceSpan): Promise<Step> {
  const startedAt = Date.now();
  const clock = performance.now();
  run.partialText = "";
  const reply = await callModel(run, state, span);
  const reading = run.config.driver.read(reply);
  const calls = identifyCalls(run, reading.calls);
  const createdAt = new Date(startedAt).toISOString();
  const index = state.stepCount + 1;
  const message = replyMessage(run, { reading, reply, calls, step: index, createdAt });
  if (run.log !== undefined && calls.length > 0) await run.log.intend(index, message);
  const settled = calls.length === 0 ? [] : await callTools(run, calls, { step: index, span });
  const correction = calls.length === 0 ? await correctionOf(run, reading) : undefined;
  const notes = correction === undefined ? [] : [noteMessage(run, correction.message, index)];
  const messages: Message[] = [message, ...settled.map((each) => each.message), ...notes];
  return stepOf(run, {
    index,
    messages,
    reading,
    reply,
    calls,
    settled,
    correction,
    createdAt,
    durationMs: performance.now() - clock,
  });
}

interface StepParts {
  readonly index: number;
  readonly messages: readonly Message[];
  readonly reading: Reading;
  readonly reply: ModelReply;
  readonly calls: readonly StepToolCall[];
  readonly settled: readonly SettledCall[];
  readonly correction: Correction | undefined;
  readonly createdAt: string;
  readonly durationMs: number;
}

function stepOf(run: Run, parts: StepParts): Step {
  const { index, messages, reading, reply, calls, settled, correction, createdAt, durationMs } = parts;
  return {
    index,
    messages,
    text: reading.text,
    ...(reply.reasoning === "" ? undefined : { reasoning: reply.reasoning }),
    toolCalls: calls,
    toolResults: settled.map((each) => each.result),
    isAnswer: calls.length === 0 && correction === undefined,
    ...(correction === undefined ? undefined : { correction }),
    finishReason: reply.finishReason,
    usage: reply.usage,
    modelId: reply.modelId ?? run.config.model.modelId,
    startedAt: createdAt,
    durationMs,
  };
}

async function correctionOf(run: Run, reading: Reading): Promise<Correction | undefined> {
  if (reading.correction !== undefined || run.config.output === undefined) return reading.correction;
  const checked = await checkOutput(run.config.output, reading.text);
  if ("correction" in checked) return checked.correction;
  run.output = checked.value;
  return undefined;
}

async function decide(run: Run, state: AgentState): Promise<AgentState> {
  const { outcome, feedback } = await ruling(run, state);
  const step = state.currentStep as Step;
  if (!step.isAnswer) return outcome === undefined ? state : state.withOutcome(outcome);
  if (outcome === undefined) return sentBack(run, state, feedback);
  const blocked = run.config.guardrails.output.length === 0 ? undefined : await blockedAnswer(run, step);
  return blocked === undefined ? state.withOutcome(outcome) : withheld(state, blocked);
}

/** What the criteria say of a state. A criterion that throws fails the run. */
export async function ruling(run: Run, state: AgentState): Promise<Ruling> {
  try {
    return await rule(run.criteria, state);
  } catch (cause) {
    run.cancellation.throwIfAborted();
    throw new OffstageError(
      "criterion-failed",
      `A criterion of agent "${run.config.name}" threw: ${messageOf(cause)}`,
      { cause },
    );
  }
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
    const { providerParts: _, ...metadata } = message.metadata ?? {};
    return { ...message, content: "[withheld by a guardrail]", metadata: { ...metadata, isWithheld: true } } as Message;
  });
  return state.withCurrentStep({ ...step, isAnswer: false, messages }).withOutcome(outcome);
}
