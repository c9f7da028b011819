// Appends the answer, and only the answer, to the conversation. A run stopped by a limit appends its partial text, marked.
import type { Processor } from "../processor.ts";
import { turnOf } from "../turn-of.ts";

/** After the step that ends the run, its answer is in `messages`; after any other step nothing is appended. */
export const appendFinalResponse: Processor = async (state, next) => {
  const after = await next(state);
  const step = after.currentStep;
  if (step === undefined || step === state.currentStep) return after;
  return after.withMessages(after.messages.append(turnOf(after)));
};
