// Appends everything a step produced to the conversation: the mode without a separate tool trace.
import type { Processor } from "../processor.ts";

/** After a step, all its messages are in `messages`. */
export const appendStepMessages: Processor = async (state, next) => {
  const after = await next(state);
  const step = after.currentStep;
  if (step === undefined || step === state.currentStep) return after;
  return after.withMessages(after.messages.append(step.messages));
};
