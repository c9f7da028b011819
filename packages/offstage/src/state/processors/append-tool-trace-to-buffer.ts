// Appends the tool trace of a step to the execution buffer: the model sees it during the run, and it is never stored.
import { AgentState } from "../agent-state.ts";
import type { Processor } from "../processor.ts";

/** After a step that is not an answer, its messages are in the execution buffer. */
export const appendToolTraceToBuffer: Processor = async (state, next) => {
  const after = await next(state);
  const step = after.currentStep;
  if (step === undefined || step === state.currentStep || step.isAnswer) return after;
  return after.withSection(AgentState.EXECUTION_BUFFER_SECTION, after.executionBuffer.append(step.messages));
};
