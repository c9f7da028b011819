// Criteria about tool errors. Without them the model deals with a failed tool itself.
import { isObject } from "../../base/json.ts";
import { checkOptions, checkRequired, numberFrom } from "../../base/options.ts";
import type { AgentState } from "../agent-state.ts";
import type { Criterion } from "../criterion.ts";
import type { Step } from "../step.ts";

/** `continue` leaves errors to the model, `stop` fails the run at the first error, and limits fail it at a number of errors. */
export type ErrorPolicy = "continue" | "stop" | ErrorLimits;

export interface ErrorLimits {
  /** The run fails at this many tool errors in total. */
  readonly maxToolErrors?: number | undefined;
  /** The run fails at this many consecutive steps in which every tool failed. */
  readonly maxFailedSteps?: number | undefined;
}

/** Fails the run when its tools fail more often than the policy allows. */
export function errorPolicy(policy: ErrorPolicy): Criterion {
  const { maxToolErrors = Number.POSITIVE_INFINITY, maxFailedSteps = Number.POSITIVE_INFINITY } = limitsOf(policy);
  return {
    name: "error-policy",
    decide(state) {
      if (!state.currentStep?.toolResults.some((result) => result.isError)) return undefined;
      const errors = countErrors(state);
      const failed = countFailedSteps(state);
      if (errors < maxToolErrors && failed < maxFailedSteps) return undefined;
      const message = `The error policy does not allow this many tool errors (in the run: ${errors}; failed steps in a row: ${failed}). The last error: ${lastError(state.currentStep)}`;
      return { decision: "stop", reason: "error-policy", message, status: "failed" };
    },
  };
}

/** Stops the run when a tool of its newest step failed. */
export function errorPresence(): Criterion {
  return {
    name: "error-presence",
    decide({ currentStep }) {
      if (!currentStep?.toolResults.some((result) => result.isError)) return undefined;
      return { decision: "stop", reason: "error-presence", message: `A tool failed: ${lastError(currentStep)}` };
    },
  };
}

function limitsOf(policy: ErrorPolicy): ErrorLimits {
  if (policy === "continue") return {};
  if (policy === "stop") return { maxToolErrors: 1 };
  const words = '"continue", "stop" or { maxToolErrors, maxFailedSteps }';
  checkRequired("policy", policy, { isFit: isObject, words });
  checkOptions(policy, { maxToolErrors: numberFrom(0), maxFailedSteps: numberFrom(0) }, "errorPolicy()");
  return policy;
}

function countErrors({ steps }: AgentState): number {
  return steps.reduce((sum, { toolResults }) => sum + toolResults.filter((result) => result.isError).length, 0);
}

function countFailedSteps({ steps }: AgentState): number {
  const hasSuccess = ({ toolResults }: Step): boolean =>
    toolResults.length === 0 || toolResults.some((result) => !result.isError);
  return steps.length - 1 - steps.findLastIndex(hasSuccess);
}

function lastError(step: Step): string {
  const failed = step.toolResults.findLast((result) => result.isError);
  return failed === undefined ? "none" : `"${failed.toolName}" said ${JSON.stringify(failed.content).slice(0, 200)}`;
}
