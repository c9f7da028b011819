// Appends the answer, and only the answer, to the conversation. A run that a limit stops leaves its partial text, marked.
import { isSendable } from "../../messages/pairing.ts";
import { partialAnswer } from "../partial-answer.ts";
import type { Processor } from "../processor.ts";

/** After a step that ends the run, its answer is in `messages`; after any other step nothing is. */
export const appendFinalResponse: Processor = (state, next) =>
  next(state).then((after) => {
    const step = after.currentStep;
    if (step === undefined || step === state.currentStep) return after;
    if (step.isAnswer) return after.withMessages(after.messages.append(step.messages.filter(isSendable)));
    if (after.outcome?.status !== "stopped" || after.outcome.reason === "guardrail") return after;
    const partial = partialAnswer(after);
    return partial === undefined ? after : after.withMessages(after.messages.append(partial));
  });
