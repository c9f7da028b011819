// A budget: a cost limit over all runs of a store, shared by agents and processes.
import { checkOptions, checkRequired, objectWith, positiveNumber } from "../../base/options.ts";
import { OffstageError } from "../../errors.ts";
import type { AgentState } from "../agent-state.ts";
import type { Criterion } from "../criterion.ts";
import type { Step } from "../step.ts";
import { checkPriced, limitReached } from "./limits.ts";

/** A store, as far as a budget needs it. */
export interface BudgetStore {
  numbers(options: { since: Date }): Promise<readonly { readonly cost: number }[]>;
  readonly runs: { journal(runId: string): Promise<object | undefined> };
}

export interface BudgetOptions {
  /** US dollars per day. A day begins at midnight UTC. */
  readonly perDay: number;
}

const mostKnown = 1000;

/**
 * Stops runs once the runs of a store that began today have cost this much together. The store adds up the costs before the first step
 * and after each one, so several processes share a budget; each run exceeds it by at most one step. It binds subagents too.
 *
 * Only recorded runs count: a run without a session of this store and its namespace fails.
 */
export function budget(store: BudgetStore, options: BudgetOptions): Criterion {
  checkRequired("store", store, objectWith("a store: pass openStore(…) or the like", "numbers", "session"));
  checkOptions(options, { perDay: positiveNumber }, "budget()");
  checkRequired("perDay", options.perDay, positiveNumber);
  const { perDay } = options;
  const recorded = new Set<string>();
  const checkRecorded = async (runId = ""): Promise<void> => {
    if (recorded.has(runId)) return;
    if ((await store.runs.journal(runId)) === undefined) throw unrecorded(runId);
    if (recorded.size >= mostKnown) recorded.clear();
    recorded.add(runId);
  };
  return {
    name: "budget",
    isShared: true,
    async decide(state, { step } = { step: undefined }) {
      if (step !== undefined) checkPriced(step);
      await checkRecorded(state.runId);
      const today = startOfDay(Date.now());
      const [all] = await store.numbers({ since: new Date(today) });
      const spent = (all?.cost ?? 0) + (step?.cost ?? 0) + sinceMidnight(state, today, step);
      if (spent < perDay) return undefined;
      const sum = Math.round(spent * 1e6) / 1e6;
      return limitReached("budget", `The runs of ${dayOf(today)} cost $${sum}; the budget is $${perDay} a day.`);
    },
  };
}

function startOfDay(time: number): number {
  return Math.floor(time / 86_400_000) * 86_400_000;
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

// The store counts a run on the day on which it began. A run that began earlier adds its own steps of today.
function sinceMidnight({ startedAt = 0, steps }: AgentState, today: number, taken: Step | undefined): number {
  if (startedAt >= today) return 0;
  const own = steps.filter((each) => each !== taken && Date.parse(each.startedAt) >= today);
  return own.reduce((sum, { cost = 0 }) => sum + cost, 0);
}

function unrecorded(runId: string): OffstageError {
  return new OffstageError(
    "invalid-argument",
    `Run "${runId}" has a budget, but the store of the budget does not record it, so its cost would not count. Run the agent with a session of that store.`,
  );
}
