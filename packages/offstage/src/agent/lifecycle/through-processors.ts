// Takes one step through the processors of the user, which stand around it.
import { isOffstageError, messageOf, OffstageError } from "../../errors.ts";
import { AgentState } from "../../state/agent-state.ts";
import { chain } from "../../state/processor.ts";
import type { Step } from "../../state/step.ts";
import type { Run } from "../run/run.ts";
import { freezeStep } from "../step/make-step.ts";
import { abortedOutcome } from "./conclude.ts";

/** The state after one step and all processors. */
export async function throughProcessors(
  run: Run,
  takeStep: (run: Run, state: AgentState) => Promise<AgentState>,
): Promise<AgentState> {
  let stepping: Promise<AgentState> | undefined;
  const next = chain(run.agent.processors, (state) => {
    stepping = takeStep(run, state);
    return stepping;
  });
  const { cancellation } = run.scope;
  try {
    const after = await cancellation.race(next(run.state));
    if (isPending(after)) return after;
    if (isOneStepAhead(run, after)) {
      freezeStep(after.currentStep as Step);
      return after;
    }
  } catch (error) {
    // After an abort the step itself ends soon, with its subagents. If it has finished, it is kept.
    const finished = cancellation.signal.aborted ? await stepping?.catch(() => undefined) : undefined;
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
  run.scope.cancellation.signal.throwIfAborted();
  if (isOffstageError(cause)) return cause;
  const sentence = `A processor of agent "${run.agent.name}" threw: ${messageOf(cause)}`;
  return new OffstageError("processor-failed", sentence, { cause });
}
