// Self-critic: a review of an answer before the run ends with it.
import { isObject } from "../../base/json.ts";
import { checkOptions, checkRequired, type OptionRule, someFunction, wholeFrom } from "../../base/options.ts";
import type { AgentState } from "../agent-state.ts";
import type { Criterion } from "../criterion.ts";

/** The critic's judgement of an answer: accepted, or feedback for the model. */
export type Critique = { readonly accept: true } | { readonly accept: false; readonly feedback: string };

export interface SelfCriticOptions {
  /** How often an answer may be sent back. Default 2. */
  readonly maxRounds?: number | undefined;
}

const critique: OptionRule = {
  isFit: (value) => isObject(value) && typeof value.accept === "boolean",
  words: "{ accept: true } or { accept: false, feedback }",
};

/** Sends an answer back with the critic's feedback until it is accepted. The critic may ask another agent. */
export function selfCritic(
  critic: (answer: string, state: AgentState) => Critique | Promise<Critique>,
  options: SelfCriticOptions = {},
): Criterion {
  checkRequired("critic", critic, someFunction);
  checkOptions(options, { maxRounds: wholeFrom(0) }, "selfCritic()");
  const { maxRounds = 2 } = options;
  return {
    name: "self-critic",
    async decide(state) {
      const { currentStep } = state;
      if (!currentStep?.isAnswer || countSentBack(state) >= maxRounds) return undefined;
      const given = await critic(currentStep.text, state);
      checkRequired("critique", given, critique);
      if (given.accept) return undefined;
      const message = "The critic sent the answer back.";
      return { decision: "continue", reason: "self-critic", message, feedback: given.feedback };
    },
  };
}

// An answer that was sent back is the only step with neither calls nor a correction that is not an answer.
function countSentBack({ steps }: AgentState): number {
  return steps.filter((step) => !step.isAnswer && step.toolCalls.length === 0 && step.correction === undefined).length;
}
