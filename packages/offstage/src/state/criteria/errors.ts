// What tool errors mean for a run. Without these a failed tool is the model's to deal with.
import type { AgentState } from "../agent-state.ts";
import type { Criterion } from "../criterion.ts";
import type { Step } from "../step.ts";

/** `continue` leaves errors to the model, `stop` fails the run at the first; or fail it at a number of them. */
export type ErrorPolicy =
  | "continue"
  | "stop"
  | {
      /** Tool errors in the whole run. */
      readonly maxToolErrors?: number;
      /** Steps in a row in which every tool failed. */
      readonly maxFailedSteps?: number;
    };

/** Fails the run when its tools fail more than the policy bears. */
export function errorPolicy(policy: ErrorPolicy): Criterion {
  const limits = policy === "continue" ? {} : policy === "stop" ? { maxToolErrors: 1 } : policy;
  const { maxToolErrors = Number.POSITIVE_INFINITY, maxFailedSteps = Number.POSITIVE_INFINITY } = limits;
  return {
    name: "error-policy",
    decide(state) {
      if (!state.currentStep?.toolResults.some((result) => result.isError)) return undefined;
      const errors = countErrors(state);
      const failed = failedInARow(state);
      if (errors < maxToolErrors && failed < maxFailedSteps) return undefined;
      const message = `Tools failed ${errors} times, in ${failed} whole steps in a row: more than the error policy bears. The last error: ${lastError(state.currentStep)}`;
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

function countErrors(state: AgentState): number {
  let count = 0;
  for (const step of state.steps) count += step.toolResults.filter((result) => result.isError).length;
  return count;
}

function failedInARow(state: AgentState): number {
  const recent = [...state.steps].reverse();
  const end = recent.findIndex(
    (step) => step.toolResults.length === 0 || !step.toolResults.every((result) => result.isError),
  );
  return end === -1 ? recent.length : end;
}

function lastError(step: Step): string {
  const failed = step.toolResults.findLast((result) => result.isError);
  return failed === undefined ? "none" : `"${failed.toolName}" said ${JSON.stringify(failed.content).slice(0, 200)}`;
}
