// "offstage/criteria": the criteria beyond the four limits of the front door, and the types for your own.

export { type ErrorPolicy, errorPolicy, errorPresence } from "../state/criteria/errors.ts";
export { deadline } from "../state/criteria/limits.ts";
export { finishReason, repeatedCall, responseContent } from "../state/criteria/replies.ts";
export { type Critique, selfCritic } from "../state/criteria/self-critic.ts";
export type { Asking, Criterion, CriterionFunction } from "../state/criterion.ts";
export { retryLimit, toolCallPresence } from "../state/criterion.ts";
export type { OutcomeReason, Verdict } from "../state/outcome.ts";
