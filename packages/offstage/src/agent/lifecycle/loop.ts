// The only loop. `run`, `stream`, `execute` and `resume` all use it, so they persist the same things and fail the same way.
import { isOffstageError, messageOf, OffstageError } from "../../errors.ts";
import { enterReentrancyScope } from "../../sessions/lease/lease.ts";
import { AgentState } from "../../state/agent-state.ts";
import type { PendingStep } from "../../state/pending-step.ts";
import { chain, type Next } from "../../state/processor.ts";
import type { Step } from "../../state/step.ts";
import { runInScope } from "../../tracing/trace-span.ts";
import { promptSections, setUpStep } from "../input/prompt.ts";
import { waitingOutcome } from "../ports/approvals.ts";
import type { RunResult } from "../ports/run-result.ts";
import { freezeStep } from "../run/recorder.ts";
import type { Run } from "../run/run.ts";
import type { StepPlace, StepStart } from "../run/run-parts.ts";
import { callModel } from "../step/call-model.ts";
import { callTools } from "../step/call-tools.ts";
import { callsToApprove, readReply, stepOf, withResults } from "../step/make-step.ts";
import { rule, ruleBefore, withoutUnchecked } from "../step/rule.ts";
import { abortedOutcome, conclude, type Ending, endingOf } from "./conclude.ts";
import { joinInbox, openRun } from "./open-run.ts";

/** Makes the first state of a run. If it has an outcome already, no step is taken. */
export type Open = (run: Run) => Promise<AgentState>;

/** Runs to the end. Resolves when the agent has answered, waits for approval or was stopped; rejects on failure and abort. */
export function loop(run: Run, open: Open = openRun): Promise<RunResult<unknown>> {
  const { span, reentrancy, cancellation } = run.scope;
  const work = async () => {
    try {
      for (let next = open; ; ) {
        const ended = await conclude(run, await reachEnd(run, next));
        if (!(ended instanceof AgentState)) return ended;
        next = () => goOn(run, ended);
      }
    } finally {
      cancellation[Symbol.dispose]();
    }
  };
  return enterReentrancyScope(reentrancy, () => runInScope(span, work));
}

// The answer of the run became a draft, because something was said meanwhile.
async function goOn(run: Run, state: AgentState): Promise<AgentState> {
  await run.record.reopenStep(state.currentStep as Step);
  return state;
}

async function reachEnd(run: Run, open: Open): Promise<Ending> {
  try {
    run.state = await open(run);
    run.state = await joinInbox(run, await ruleBefore(run, run.state));
    while (run.state.outcome === undefined) {
      run.state = await throughProcessors(run, (state) => takeStep(run, state));
      // A pending step is recorded once it is finished.
      if (run.state.pendingStep === undefined) await run.record.step(run.state);
      run.state = await joinInbox(run, run.state);
    }
    return { state: run.state };
  } catch (error) {
    const ending = endingOf(run, error);
    const isStepFinished = ending.state.stepCount > run.state.stepCount;
    run.state = ending.state;
    if (isStepFinished) await run.record.step(run.state);
    return ending;
  }
}

async function takeStep(run: Run, state: AgentState): Promise<AgentState> {
  const { record, scope, limits } = run;
  scope.cancellation.throwIfAborted();
  const { pendingStep } = state;
  const made = await record.inStep(state.stepCount + 1, (at) =>
    pendingStep === undefined ? newStep(run, state, at) : finishStep(run, pendingStep, at),
  );
  const usage = limits.ledger.usageByModel;
  if ("waiting" in made) {
    const paused = state.withPendingStep(made).withUsage(usage);
    return paused.withOutcome(waitingOutcome(paused, run.agent.name));
  }
  const finished = state.withStep(freezeStep(made), usage);
  try {
    return keepFinished(run, await rule(run, finished));
  } catch (error) {
    keepFinished(run, withoutUnchecked(run, finished));
    throw error;
  }
}

function keepFinished({ agent, draft }: Run, state: AgentState): AgentState {
  draft.finished = agent.keepMessages(state, state.currentStep as Step);
  return draft.finished;
}

async function newStep(run: Run, state: AgentState, at: StepStart): Promise<Step | PendingStep> {
  await setUpStep(run, at.step);
  const sections = await promptSections(run, state, at);
  const reply = await callModel(run, sections, at);
  const read = await readReply(run, reply, at);
  const { message, calls } = read;
  if (calls.length === 0) return stepOf(run, read, at, []);
  await run.record.intend(at, message, callsToApprove(run, calls));
  return stepOf(run, read, at, await callTools(run, calls, at));
}

// Runs the waiting calls of a pending step. Finished calls do not run again.
async function finishStep(run: Run, pending: PendingStep, at: StepPlace): Promise<Step | PendingStep> {
  await setUpStep(run, at.step);
  const { step, waiting } = pending;
  const open = new Set(waiting.map(({ toolCallId }) => toolCallId));
  const calls = step.toolCalls.filter(({ toolCallId }) => open.has(toolCallId));
  run.draft.messages = [...step.messages];
  return withResults(pending, await callTools(run, calls, { ...at, before: waiting }));
}

/** The state after one step and all processors. */
export function throughProcessors(run: Run, takeStep: Next): Promise<AgentState> {
  return run.agent.processors.length === 0 ? takeStep(run.state) : processStep(run, takeStep);
}

async function processStep(run: Run, takeStep: Next): Promise<AgentState> {
  let stepping: Promise<AgentState> | undefined;
  const next = chain(run.agent.processors, (state) => {
    stepping = takeStep(state);
    return stepping;
  });
  try {
    const after = await run.scope.cancellation.race(next(run.state));
    if (isOneStepAhead(run, after) || isPending(after)) return after;
  } catch (error) {
    // After an abort the step itself ends soon, with its subagents. If it has finished, it is kept.
    const finished = run.scope.cancellation.isAborted ? await stepping?.catch(() => undefined) : undefined;
    if (finished !== undefined && isOneStepAhead(run, finished)) return finished.withOutcome(abortedOutcome(run));
    throw stepFailure(run, error);
  }
  const sentence = `A processor of agent "${run.agent.name}" did not return the state it got from next(state). Call next once and return its result, or a state made from it.`;
  throw new OffstageError("processor-failed", sentence);
}

function isOneStepAhead(run: Run, state: unknown): boolean {
  return state instanceof AgentState && state.stepCount === run.state.stepCount + 1;
}

function isPending(state: unknown): boolean {
  return state instanceof AgentState && state.pendingStep !== undefined;
}

// An OffstageError comes from the step itself and is passed on; any other error was thrown by a processor.
function stepFailure(run: Run, cause: unknown): unknown {
  run.scope.cancellation.throwIfAborted();
  if (isOffstageError(cause)) return cause;
  const sentence = `A processor of agent "${run.agent.name}" threw: ${messageOf(cause)}`;
  return new OffstageError("processor-failed", sentence, { cause });
}
