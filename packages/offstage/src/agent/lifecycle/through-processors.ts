// Takes a step through the user's processors, which are middleware around it. An abort does not wait for them.
import { isOffstageError, messageOf, OffstageError } from "../../errors.ts";
import { AgentState } from "../../state/agent-state.ts";
import { chain, type Next } from "../../state/processor.ts";
import type { Run } from "../run/run.ts";
import { abortedOutcome } from "./conclude.ts";

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
