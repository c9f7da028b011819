// Self-critic: a second look at an answer before it is given.
import type { AgentState } from "../agent-state.ts";
import type { Criterion } from "../criterion.ts";

/** What a critic says of an answer: enough, or what is missing. */
export type Critique = { readonly accept: true } | { readonly accept: false; readonly feedback: string };

export interface SelfCriticOptions {
  /** How often an answer may be sent back. Default 2. */
  readonly maxRounds?: number;
}

/** Sends an answer back with the critic's feedback until it is accepted. The critic may ask another agent. */
export function selfCritic(
  critic: (answer: string, state: AgentState) => Critique | Promise<Critique>,
  options: SelfCriticOptions = {},
): Criterion {
  const { maxRounds = 2 } = options;
  return {
    name: "self-critic",
    async decide(state) {
      const { currentStep } = state;
      if (!currentStep?.isAnswer || roundsOf(state) >= maxRounds) return undefined;
      const critique = await critic(currentStep.text, state);
      if (critique.accept) return undefined;
      return {
        decision: "continue",
        reason: "self-critic",
        message: "The critic sent the answer back.",
        feedback: critique.feedback,
      };
    },
  };
}

// An answer that was sent back ends with the critic's word: a step with neither calls nor a correction.
function roundsOf(state: AgentState): number {
  return state.steps.filter((step) => !step.isAnswer && step.toolCalls.length === 0 && step.correction === undefined)
    .length;
}
