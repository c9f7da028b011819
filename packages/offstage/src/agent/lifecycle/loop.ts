// The one loop. `run`, `stream` and `execute` are faces of it; all persist the same things and fail the same way.
import { isOffstageError, messageOf, OffstageError } from "../../errors.ts";
import { enterReentrancyScope } from "../../sessions/held-session.ts";
import { AgentState } from "../../state/agent-state.ts";
import type { Criterion } from "../../state/criterion.ts";
import type { Outcome } from "../../state/outcome.ts";
import { chain } from "../../state/processor.ts";
import { runInSpan } from "../../tracing/with-span.ts";
import type { RunResult } from "../ports/run-result.ts";
import { recordStep } from "../run/recorder.ts";
import type { Run } from "../run/run.ts";
import { ruling, takeStep } from "../step/take-step.ts";
import { conclude, type Ending } from "./conclude.ts";
import { openRun } from "./open-run.ts";

/** Makes the first state of a run. One that has its outcome already takes no step. */
export type Open = (run: Run) => AgentState | Promise<AgentState>;

/** Runs to the end. Resolves when the agent answered, waits or was stopped; rejects on failure and on abort. */
export function loop(run: Run, open: Open = openRun): Promise<RunResult<unknown>> {
  return enterReentrancyScope(run.around, () => runInSpan(run.span, () => perform(run, open)));
}

async function perform(run: Run, open: Open): Promise<RunResult<unknown>> {
  let ending: Ending;
  try {
    run.state = await open(run);
    await takeSteps(run);
    ending = { state: run.state };
  } catch (error) {
    ending = brokenOff(run, error);
  }
  try {
    const concluding = conclude(run, ending);
    return "then" in concluding ? await concluding : concluding;
  } finally {
    run.cancellation[Symbol.dispose]();
  }
}

async function takeSteps(run: Run): Promise<void> {
  let inStep: Promise<AgentState> | undefined;
  const next = chain(run.config.processors, (state) => {
    inStep = takeStep(run, state);
    return inStep;
  });
  if (run.state.outcome === undefined && run.state.pendingStep === undefined && mayEndBefore(run)) {
    const ruled = ruling(run, run.state, criteriaBefore(run));
    const { outcome } = "then" in ruled ? await ruled : ruled;
    if (outcome !== undefined) run.state = run.state.withOutcome(outcome);
  }
  while (run.state.outcome === undefined) {
    let after: AgentState;
    try {
      const stepping = next(run.state);
      // A processor of the user's that does not listen is not waited for.
      after = await (run.config.options.processors === undefined ? stepping : run.cancellation.race(stepping));
    } catch (error) {
      if (run.cancellation.isAborted) await leaveProcessors(run, inStep);
      throw stepFailure(run, error);
    }
    run.state = oneStepOn(run, after);
    const recording = run.state.pendingStep === undefined ? recordStep(run) : undefined;
    if (recording !== undefined) await recording;
  }
}

// The step itself, with the subagents in it, ends soon after an abort, and before its run does. One that was done is kept.
async function leaveProcessors(run: Run, inStep: Promise<AgentState> | undefined): Promise<void> {
  const after = await inStep?.catch(() => undefined);
  if (after === undefined || after.stepCount !== run.state.stepCount + 1) return;
  run.state = after.withOutcome(abortedOutcome(run));
  void recordStep(run);
}

// Limits that are on by default have nothing to say before the first step of a run; others, and those of a run above, may.
function mayEndBefore({ state, parent, config }: Run): boolean {
  return state.stepCount > 0 || parent !== undefined || config.options.stopWhen !== undefined;
}

// What is said of a step is asked after one; a limit may have passed already.
function criteriaBefore({ state, criteria }: Run): readonly Criterion[] {
  return state.stepCount > 0 ? criteria : criteria.filter(({ isShared }) => isShared);
}

// An error of a processor is the processor's; one from inside the step already says what it is.
function stepFailure(run: Run, cause: unknown): OffstageError {
  run.cancellation.throwIfAborted();
  if (isOffstageError(cause)) return cause;
  const sentence = `A processor of agent "${run.config.name}" threw: ${messageOf(cause)}`;
  return new OffstageError("processor-failed", sentence, { cause });
}

// The state that the processors gave, if it is one step further than the one they got.
function oneStepOn(run: Run, state: AgentState): AgentState {
  if (state instanceof AgentState && (state.stepCount === run.state.stepCount + 1 || state.pendingStep !== undefined))
    return state;
  const sentence = `A processor of agent "${run.config.name}" did not give the state it got from next(state). Call next once and return its result, or a state made from it.`;
  throw new OffstageError("processor-failed", sentence);
}

function abortedOutcome({ cancellation }: Run): Outcome {
  return { status: "stopped", reason: "aborted", message: `The run was aborted: ${messageOf(cancellation.reason)}` };
}

function brokenOff(run: Run, error: unknown): Ending {
  const { cancellation, ledger } = run;
  const state = run.state.withUsage(ledger.usageByModel);
  if (cancellation.isAborted)
    return { state: state.withOutcome(abortedOutcome(run)), abortedWith: { reason: cancellation.reason } };
  const reason = isOffstageError(error) ? error.code : "error";
  return { state: state.withOutcome({ status: "failed", reason, message: messageOf(error) }), failedWith: error };
}
