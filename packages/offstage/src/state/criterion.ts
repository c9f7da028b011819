// Continuation: criteria vote, and one rule decides. Order-independent; the outcome says who decided and why.
import { isThenable } from "../messages/thenable.ts";
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
  /** The limit also binds subagents, whose tokens and time count against it. */
  readonly isShared?: boolean;
}

/** A function in place of a criterion: `false` stops the run, a verdict is a verdict, anything else is no opinion. */
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
  const name = source.name || "continueWhile";
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
  return said === false
    ? { decision: "forbid", reason: name, message: `The function "${name}" said stop.` }
    : undefined;
}

/** What the criteria come to. Synchronous unless one of them is not, or throws: then it rejects. */
export function rule(criteria: readonly Criterion[], state: AgentState): Ruling | Promise<Ruling> {
  const verdicts: NamedVerdict[] = [];
  const waiting: Promise<void>[] = [];
  for (const criterion of criteria) {
    const said = ask(criterion, state);
    if (isThenable(said)) waiting.push(Promise.resolve(said).then((verdict) => note(verdicts, criterion, verdict)));
    else note(verdicts, criterion, said);
  }
  return waiting.length === 0 ? weigh(verdicts) : Promise.all(waiting).then(() => weigh(verdicts));
}

// A throw must not leave the promises of other criteria behind: theirs could reject with nobody listening.
function ask(criterion: Criterion, state: AgentState): ReturnType<Criterion["decide"]> {
  try {
    return criterion.decide(state);
  } catch (error) {
    return Promise.reject(error);
  }
}

function note(verdicts: NamedVerdict[], criterion: Criterion, verdict: Verdict | undefined): void {
  if (verdict !== undefined) verdicts.push({ criterion: criterion.name, ...verdict });
}

function weigh(verdicts: readonly NamedVerdict[]): Ruling {
  const request = first(verdicts, "request");
  const stop = first(verdicts, "allow-stop");
  const isAnswered = stop !== undefined && request === undefined;
  const binding = isAnswered ? verdicts.filter((verdict) => verdict.isLimit !== true) : verdicts;
  const forbid = first(binding, "forbid");
  if (forbid !== undefined) return { outcome: outcomeOf(forbid, "stopped", verdicts), feedback: undefined };
  if (request !== undefined) return { outcome: undefined, feedback: request.feedback };
  return { outcome: stop === undefined ? undefined : outcomeOf(stop, "completed", verdicts), feedback: undefined };
}

// Among several of one kind the same one is named whatever their order: one that brings something first, then by name.
function first(verdicts: readonly NamedVerdict[], decision: Verdict["decision"]): NamedVerdict | undefined {
  let found: NamedVerdict | undefined;
  for (const verdict of verdicts) {
    if (verdict.decision === decision && (found === undefined || rank(verdict) < rank(found))) found = verdict;
  }
  return found;
}

function rank(verdict: NamedVerdict): string {
  return `${verdict.status === "failed" || verdict.feedback !== undefined ? 0 : 1} ${sortKey(verdict)}`;
}

function sortKey({ criterion, decision, reason, message, status, feedback, isLimit }: NamedVerdict): string {
  return JSON.stringify([criterion, decision, reason, message, status, feedback, isLimit]);
}

function outcomeOf(verdict: NamedVerdict, status: Outcome["status"], verdicts: readonly NamedVerdict[]): Outcome {
  const { criterion, reason, message } = verdict;
  return { status: verdict.status ?? status, reason, message, criterion, verdicts: sorted(verdicts) };
}

function sorted(verdicts: readonly NamedVerdict[]): readonly NamedVerdict[] {
  if (verdicts.length < 2) return verdicts;
  const keyed = verdicts.map((verdict) => [sortKey(verdict), verdict] as const);
  return keyed.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, verdict]) => verdict);
}
