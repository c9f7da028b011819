// What a reply means for the run: does it ask for tools, how did it finish, is it enough, does it go round in circles.
import { OffstageError } from "../../errors.ts";
import type { Criterion } from "../criterion.ts";
import type { Verdict } from "../outcome.ts";
import type { Step } from "../step.ts";

const goOn: Verdict = Object.freeze({
  decision: "continue",
  reason: "tool-calls",
  message: "The model waits for what it asked for.",
});
const answered: Verdict = Object.freeze({ decision: "may-stop", reason: "answered", message: "The model answered." });

/** Goes on while the model is owed something (tool results, a correction), and may stop at an answer. On by default. */
export function toolCallPresence(): Criterion {
  return {
    name: "tool-call-presence",
    decide: ({ currentStep }) => (currentStep === undefined ? undefined : currentStep.isAnswer ? answered : goOn),
  };
}

/** Stops the run when the model finished for one of these reasons. */
export function finishReason(...reasons: readonly string[]): Criterion {
  const watched = new Set(reasons.length > 0 ? reasons : ["length", "content-filter", "error"]);
  return {
    name: "finish-reason",
    decide({ currentStep }) {
      if (currentStep === undefined || !watched.has(currentStep.finishReason)) return undefined;
      const message = `The model finished with "${currentStep.finishReason}".`;
      return { decision: "stop", reason: "finish-reason", message };
    },
  };
}

export interface ResponseContentOptions {
  /** What the model is told when its answer is not enough. */
  readonly feedback?: string;
}

/** Goes on until an answer passes the test. */
export function responseContent(
  test: RegExp | ((text: string) => boolean),
  options: ResponseContentOptions = {},
): Criterion {
  const { feedback = "That is not complete yet. Continue." } = options;
  const passes = typeof test === "function" ? test : (text: string) => text.search(test) !== -1;
  return {
    name: "response-content",
    decide({ currentStep }) {
      if (!currentStep?.isAnswer || passes(currentStep.text)) return undefined;
      return { decision: "continue", reason: "response-content", message: "The answer is not enough.", feedback };
    },
  };
}

/** Stops a run that makes the very same calls this many steps in a row. */
export function repeatedCall(times = 3): Criterion {
  if (!Number.isInteger(times) || times < 2)
    throw new OffstageError("invalid-argument", `"times" must be an integer from 2; found ${times}.`);
  return {
    name: "repeated-call",
    decide(state) {
      if (state.stepCount < times || !state.currentStep?.toolCalls.length) return undefined;
      const calls = state.steps.slice(-times).map(callsOf);
      if (calls.some((call) => call !== calls[0])) return undefined;
      const message = `The model made the same call ${times} times in a row: ${calls[0]?.slice(0, 200)}`;
      return { decision: "stop", reason: "repeated-call", message };
    },
  };
}

function callsOf(step: Step): string {
  return step.toolCalls.map((call) => `${call.toolName}(${call.inputText})`).join(", ");
}
