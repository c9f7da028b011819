// The criteria that every agent has unless it replaces them: it stops at an answer, after too many steps, or after too many corrections.
import { checkRequired, wholeFrom } from "../../base/options.ts";
import type { Criterion } from "../criterion.ts";
import type { OutcomeReason, Verdict } from "../outcome.ts";

/** Continues while the model waits for tool results or a correction, and may stop at an answer. On by default. */
export function toolCallPresence(): Criterion {
  return {
    name: "tool-call-presence",
    decide({ currentStep }) {
      if (currentStep === undefined) return undefined;
      if (currentStep.isAnswer) return { decision: "may-stop", reason: "answered", message: "The model answered." };
      return {
        decision: "continue",
        reason: "tool-calls",
        message: "The model waits for tool results or a correction.",
      };
    },
  };
}

/** Stops the run after this many steps. On by default, with 20. */
export function stepLimit(maxSteps = 20): Criterion {
  checkRequired("maxSteps", maxSteps, wholeFrom(1));
  return {
    name: "step-limit",
    decide: (state) =>
      state.stepCount >= maxSteps
        ? limitReached("step-limit", `The run reached its limit of ${maxSteps} ${maxSteps === 1 ? "step" : "steps"}.`)
        : undefined,
  };
}

/** Fails the run after more than this many corrections in a row. */
export function retryLimit(maxRetries = 2): Criterion {
  checkRequired("maxRetries", maxRetries, wholeFrom(0));
  return {
    name: "retry-limit",
    decide(state) {
      const { correction } = state.currentStep ?? {};
      if (correction === undefined) return undefined;
      const { steps } = state;
      const corrected = steps.length - 1 - steps.findLastIndex((step) => step.correction === undefined);
      if (corrected <= maxRetries) return undefined;
      const tries = corrected === 1 ? "one try" : `${corrected} tries`;
      const message = `The model did not get it right in ${tries}: ${correction.message}`;
      return { decision: "stop", reason: "retry-limit", message, status: "failed" };
    },
  };
}

/** The vote of a limit: no vote to continue can override it. */
export function limitReached(reason: OutcomeReason, message: string): Verdict {
  return { decision: "stop", reason, message, status: "stopped", isLimit: true };
}
