// Criteria about the model's reply: how did it finish, is it enough, does it repeat itself.
import { checkOptions, checkRequired, someText, wholeFrom } from "../../base/options.ts";
import type { Criterion } from "../criterion.ts";
import type { Step } from "../step.ts";

/** Stops the run when the model finished for one of these reasons. Default: "length", "content-filter", "error". */
export function finishReason(...reasons: readonly string[]): Criterion {
  for (const reason of reasons) checkRequired("reason", reason, someText);
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
  /** The message to the model when its answer is not enough. */
  readonly feedback?: string | undefined;
}

/** Sends an answer back until it passes the test. */
export function responseContent(
  test: RegExp | ((text: string) => boolean | Promise<boolean>),
  options: ResponseContentOptions = {},
): Criterion {
  const isFit = (value: unknown): boolean => value instanceof RegExp || typeof value === "function";
  checkRequired("test", test, { isFit, words: "a regular expression or a function" });
  checkOptions(options, { feedback: someText }, "responseContent()");
  const { feedback = "That is not complete yet. Continue." } = options;
  const passes = typeof test === "function" ? test : (text: string) => text.search(test) !== -1;
  return {
    name: "response-content",
    async decide({ currentStep }) {
      if (!currentStep?.isAnswer || (await passes(currentStep.text))) return undefined;
      return { decision: "continue", reason: "response-content", message: "The answer is not enough.", feedback };
    },
  };
}

/** Stops a run that makes exactly the same calls this many steps in a row. */
export function repeatedCall(times = 3): Criterion {
  checkRequired("times", times, wholeFrom(2));
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
