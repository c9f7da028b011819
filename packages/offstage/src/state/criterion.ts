// Continuation: criteria vote, and one rule decides. Order-independent; the outcome says who decided and why.
import { isThenable } from "../base/thenable.ts";
import type { AgentState } from "./agent-state.ts";
import type { NamedVerdict, Outcome, Verdict } from "./outcome.ts";

/**
 * Decides, after a step, whether a run goes on.
 *
 * **Contract:** `decide` reads the state and changes nothing; no opinion is `undefined`. A criterion replaces a default
 * one of the same name.
 */
export interface Criterion {
  readonly name: string;
  decide(state: AgentState): Verdict | undefined | Promise<Verdict | undefined>;
  /** A limit that also binds subagents, whose tokens and time count against it; it is asked before the first step as well. */
  readonly isShared?: boolean;
}

/** A function in place of a criterion: `true` stops the run, a verdict is a vote, and anything else is no opinion. */
export type CriterionFunction = (
  state: AgentState,
) => boolean | Verdict | undefined | Promise<boolean | Verdict | undefined>;

/** What a round of votes came to. */
export interface Ruling {
  /** How the run ends; undefined where it goes on. */
  readonly outcome: Outcome | undefined;
  /** Where it goes on after an answer: what the model is told. */
  readonly feedback: string | undefined;
}

/** The criterion of a function, named after it. */
export function criterionOf(source: Criterion | CriterionFunction): Criterion {
  if (typeof source !== "function") return source;
  const name = source.name || "stopWhen";
  return {
    name,
    decide(state) {
      const said = source(state);
      if (!isThenable(said)) return verdictOf(said, name);
      return Promise.resolve(said).then((value) => verdictOf(value, name));
    },
  };
}

function verdictOf(said: boolean | Verdict | undefined, name: string): Verdict | undefined {
  if (typeof said === "object") return said ?? undefined;
  return said === true
    ? { decision: "stop", reason: name, message: `The function "${name}" returned true.` }
    : undefined;
}

/** What the criteria come to. Synchronous unless one of them is not, or throws: then it rejects. */
export function rule(criteria: readonly Criterion[], state: AgentState): Ruling | Promise<Ruling> {
  const votes: Vote[] = [];
  let waiting: Promise<void>[] | undefined;
  for (let i = 0; i < criteria.length; i++) {
    const criterion = criteria[i] as Criterion;
    let said: ReturnType<Criterion["decide"]>;
    try {
      said = criterion.decide(state);
    } catch (error) {
      // Not thrown on: the promises of other criteria could reject with nobody listening.
      said = Promise.reject(error);
    }
    if (said === undefined || said === null) continue;
    if (isThenable(said)) {
      waiting ??= [];
      waiting.push(noteLater(votes, criterion, said));
    } else votes.push({ criterion, verdict: said });
  }
  return waiting === undefined ? weigh(votes) : Promise.all(waiting).then(() => weigh(votes));
}

interface Vote {
  readonly criterion: Criterion;
  readonly verdict: Verdict;
}

function noteLater(votes: Vote[], criterion: Criterion, said: PromiseLike<Verdict | undefined>): Promise<void> {
  return Promise.resolve(said).then((verdict) => {
    if (verdict !== undefined && verdict !== null) votes.push({ criterion, verdict });
  });
}

const goesOn: Ruling = Object.freeze({ outcome: undefined, feedback: undefined });

function weigh(votes: readonly Vote[]): Ruling {
  // The tail that few calls reach is a function of its own.
  if (votes.length === 0) return goesOn;
  return votes.length === 1 ? onlyVote(votes[0] as Vote) : weighSeveral(votes);
}

function weighSeveral(votes: readonly Vote[]): Ruling {
  const goOn = first(votes, "continue");
  const mayStop = first(votes, "may-stop");
  const isAnswered = mayStop !== undefined && goOn === undefined;
  const binding = isAnswered ? votes.filter(({ verdict }) => verdict.isLimit !== true) : votes;
  const stop = first(binding, "stop");
  if (stop !== undefined) return { outcome: outcomeOf(stop, "stopped", votes), feedback: undefined };
  if (goOn !== undefined) return { outcome: undefined, feedback: goOn.verdict.feedback };
  return { outcome: mayStop === undefined ? undefined : outcomeOf(mayStop, "completed", votes), feedback: undefined };
}

function onlyVote(vote: Vote): Ruling {
  const { decision, feedback } = vote.verdict;
  if (decision === "stop") return { outcome: outcomeOf(vote, "stopped", [vote]), feedback: undefined };
  if (decision === "may-stop") return { outcome: outcomeOf(vote, "completed", [vote]), feedback: undefined };
  return decision === "continue" ? { outcome: undefined, feedback } : goesOn;
}

// Among several of one kind the same one is named whatever their order: one that brings something first, then by name.
function first(votes: readonly Vote[], decision: Verdict["decision"]): Vote | undefined {
  let found: Vote | undefined;
  for (let i = 0; i < votes.length; i++) {
    const vote = votes[i] as Vote;
    if (vote.verdict.decision === decision && (found === undefined || rank(vote) < rank(found))) found = vote;
  }
  return found;
}

function rank(vote: Vote): string {
  const { status, feedback } = vote.verdict;
  return `${status === "failed" || feedback !== undefined ? 0 : 1} ${sortKey(vote)}`;
}

function sortKey({ criterion, verdict }: Vote): string {
  const { decision, reason, message, status, feedback, isLimit } = verdict;
  return JSON.stringify([criterion.name, decision, reason, message, status, feedback, isLimit]);
}

function outcomeOf(vote: Vote, status: Outcome["status"], votes: readonly Vote[]): Outcome {
  const { criterion, verdict } = vote;
  const { reason, message } = verdict;
  return { status: verdict.status ?? status, reason, message, criterion: criterion.name, verdicts: named(votes) };
}

// In an order that does not depend on that of the criteria.
function named(votes: readonly Vote[]): NamedVerdict[] {
  return votes.length === 1 ? [nameVerdict(votes[0] as Vote)] : sorted(votes).map(nameVerdict);
}

function sorted(votes: readonly Vote[]): Vote[] {
  const keyed = votes.map((vote) => ({ key: sortKey(vote), vote }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return keyed.map(({ vote }) => vote);
}

function nameVerdict({ criterion, verdict }: Vote): NamedVerdict {
  return { ...verdict, criterion: criterion.name };
}
