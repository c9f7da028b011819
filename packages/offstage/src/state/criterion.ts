// Criteria: after each step they vote, and one rule decides. Independent of their order; the outcome lists all votes. Also the criteria
// that every agent has unless it replaces them: it stops at an answer, after too many steps, or after too many corrections.
import type { Cancellation } from "../base/cancellation.ts";
import { isObject } from "../base/json.ts";
import { checkRequired, wholeFrom } from "../base/options.ts";
import { isOffstageError, messageOf, OffstageError } from "../errors.ts";
import type { AgentState } from "./agent-state.ts";
import type { NamedVerdict, Outcome, OutcomeReason, Verdict } from "./outcome.ts";
import type { Step } from "./step.ts";

/**
 * Decides after a step whether a run stops or continues.
 *
 * **Contract:** `decide` reads the state and changes nothing; `undefined` is no opinion. A criterion replaces a default
 * one with the same name.
 */
export interface Criterion {
  readonly name: string;
  decide(state: AgentState, asking?: Asking): Verdict | undefined | Promise<Verdict | undefined>;
  /** Marks a limit that is also asked before the first step and binds subagents: their tokens and time count. */
  readonly isShared?: boolean | undefined;
}

/** When a criterion is asked. */
export interface Asking {
  /**
   * The step that was just taken and is not recorded yet: of this run, or of the subagent that asks. Undefined before the first step
   * and after a resume.
   */
  readonly step: Step | undefined;
  /** The namespace of the store that records the run; undefined if none does. */
  readonly namespace?: string | undefined;
}

/** A function in place of a criterion: `true` stops the run, a verdict is a vote, and anything else is no opinion. */
export type CriterionFunction = (
  state: AgentState,
) => boolean | Verdict | undefined | Promise<boolean | Verdict | undefined>;

/** The decision of one round of votes. */
export interface Ruling {
  /** How the run ends; undefined if it continues. */
  readonly outcome: Outcome | undefined;
  /** If an answer is sent back: the message to the model. */
  readonly feedback: string | undefined;
}

/** Makes a criterion of a function, named after it. A criterion is returned as it is. */
export function criterionOf(source: Criterion | CriterionFunction): Criterion {
  if (typeof source !== "function") return source;
  const name = source.name || "stopWhen";
  return {
    name,
    async decide(state) {
      const verdict = await source(state);
      if (verdict === true) return { decision: "stop", reason: name, message: `The function "${name}" returned true.` };
      return isObject(verdict) ? (verdict as Verdict) : undefined;
    },
  };
}

export interface AskOptions extends Asking {
  /** The name of the agent, for the error of a criterion that fails. */
  readonly agent: string;
  readonly cancellation: Cancellation;
}

/** Asks all criteria at once and rules on their verdicts. Rejects if one fails, and waits for none after an abort. */
export async function askCriteria(
  criteria: readonly Criterion[],
  state: AgentState,
  { cancellation, agent, ...asking }: AskOptions,
): Promise<Ruling> {
  try {
    cancellation.signal.throwIfAborted();
    const asked = criteria.map((criterion) => {
      try {
        return criterion.decide(state, asking);
      } catch (error) {
        // The others are asked all the same: one of them may reject as well.
        return Promise.reject(error);
      }
    });
    // Most criteria only read the state.
    const isSettled = asked.every(isVerdict);
    return rulingOn(criteria, isSettled ? asked : await cancellation.race(Promise.all(asked)));
  } catch (cause) {
    cancellation.signal.throwIfAborted();
    if (isOffstageError(cause)) throw cause;
    const sentence = `A criterion of agent "${agent}" threw: ${messageOf(cause)}`;
    throw new OffstageError("criterion-failed", sentence, { cause });
  }
}

function rulingOn(criteria: readonly Criterion[], verdicts: readonly (Verdict | undefined)[]): Ruling {
  const votes: NamedVerdict[] = [];
  for (const [index, { name }] of criteria.entries()) {
    const verdict = verdicts[index];
    // A verdict without a decision is no opinion.
    if (verdict?.decision !== undefined) votes.push({ ...verdict, criterion: name });
  }
  return weigh(votes.sort(byContent));
}

function isVerdict(given: ReturnType<Criterion["decide"]>): given is Verdict | undefined {
  return given === undefined || (given as Partial<Verdict> | null)?.decision !== undefined;
}

function weigh(votes: readonly NamedVerdict[]): Ruling {
  const continueAfter = pick(votes, "continue");
  const mayStop = pick(votes, "may-stop");
  const isAnswered = mayStop !== undefined && continueAfter === undefined;
  // An answer that no vote sends back completes the run, even if it came with the last permitted step.
  const stop = pick(isAnswered ? votes.filter(({ isLimit }) => isLimit !== true) : votes, "stop");
  if (stop !== undefined) return { outcome: outcomeOf(stop, "stopped", votes), feedback: undefined };
  if (continueAfter !== undefined) return { outcome: undefined, feedback: continueAfter.feedback };
  const outcome = mayStop === undefined ? undefined : outcomeOf(mayStop, "completed", votes);
  return { outcome, feedback: undefined };
}

/** The vote that is named among several of one kind: the first that fails the run or has feedback, else the first. */
function pick(votes: readonly NamedVerdict[], decision: Verdict["decision"]): NamedVerdict | undefined {
  const alike = votes.filter((vote) => vote.decision === decision);
  return alike.find(({ status, feedback }) => status === "failed" || feedback !== undefined) ?? alike[0];
}

function outcomeOf(vote: NamedVerdict, status: Outcome["status"], verdicts: readonly NamedVerdict[]): Outcome {
  const { reason, message, criterion } = vote;
  return { status: vote.status ?? status, reason, message, criterion, verdicts };
}

// Sorted votes make the ruling independent of the order of the criteria.
function byContent(a: NamedVerdict, b: NamedVerdict): number {
  const [keyOfA, keyOfB] = [sortKey(a), sortKey(b)];
  if (keyOfA === keyOfB) return 0;
  return keyOfA < keyOfB ? -1 : 1;
}

function sortKey({ criterion, decision, reason, message, status, feedback, isLimit }: NamedVerdict): string {
  return JSON.stringify([criterion, decision, reason, message, status, feedback, isLimit]);
}

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
