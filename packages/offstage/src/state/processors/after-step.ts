// The changes of turn-of.ts as processors, for agents that choose their own.
import type { Processor } from "../processor.ts";
import { appendTurn, bufferTrace, clearBuffer, keepTogether, type StepChange } from "../turn-of.ts";

function afterStep(change: StepChange): Processor {
  return async (state, next) => {
    const after = await next(state);
    const step = after.currentStep;
    return step === undefined || step === state.currentStep ? after : change(after, step);
  };
}

/** After a step, all its messages are in `messages`. */
export const appendStepMessages: Processor = afterStep(keepTogether);

/** After the step that ends the run, its answer is in `messages`; after any other step nothing is appended. */
export const appendFinalResponse: Processor = afterStep(appendTurn);

/** After a step that is not an answer, its messages are in the execution buffer: the model sees them, and they are never stored. */
export const appendToolTraceToBuffer: Processor = afterStep(bufferTrace);

/** After the step that completes or stops the run, the execution buffer is empty. A failed run keeps it for inspection. */
export const clearExecutionBuffer: Processor = async (state, next) => clearBuffer(await next(state));
