// Appends what a step produced on the way to an answer to the execution buffer, which the model sees and nobody keeps.
import { AgentState } from "../agent-state.ts";
import type { Processor } from "../processor.ts";

/** After a step without an answer, its messages are in the execution buffer. */
export const appendToolTraceToBuffer: Processor = (state, next) =>
  next(state).then((after) => {
    const step = after.currentStep;
    if (step === undefined || step === state.currentStep || step.isAnswer) return after;
    return after.withSection(AgentState.EXECUTION_BUFFER_SECTION, after.executionBuffer.append(step.messages));
  });
