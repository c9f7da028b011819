// A budget: a cost limit over all runs of a store, shared by agents and processes.
import { checkOptions, checkRequired, objectWith, positiveNumber } from "../../base/options.ts";
import { OffstageError } from "../../errors.ts";
import type { AgentState } from "../agent-state.ts";
import { type Criterion, limitReached } from "../criterion.ts";
import type { Step } from "../step.ts";
import { checkPriced } from "./limits.ts";

/** A store, as far as a budget needs it. */
export interface BudgetStore {
  numbers(options: { since: Date }): Promise<readonly { readonly cost: number }[]>;
  readonly runs: { journal(runId: string): Promise<object | undefined> };
  namespace(name: string): BudgetStore;
}

export interface BudgetOptions {
  /** US dollars per day. A day begins at midnight UTC. */
  readonly perDay: number;
}

const mostKnown = 1000;

/**
 * Stops runs once the runs of their namespace that began today have cost this much together. The store adds up the costs before the first
 * step and after each one, so several processes share a budget; each run exceeds it by at most one step. It binds subagents too.
 *
 * The namespace is that of the run's session, so each tenant has its own budget. Only recorded runs count: a run without a session of
 * this store fails.
 */
export function budget(store: BudgetStore, options: BudgetOptions): Criterion {
  checkRequired(
    "store",
    store,
    objectWith("a store: pass openStore(…) or the like", "numbers", "session", "namespace"),
  );
  checkOptions(options, { perDay: positiveNumber }, "budget()");
  checkRequired("perDay", options.perDay, positiveNumber);
  const { perDay } = options;
  const stores = new Map<string, BudgetStore>();
  // The store in the namespace of a run that it records.
  const storeOf = async (runId = "", namespace: string | undefined): Promise<BudgetStore> => {
    // Two tenants may use the same run id.
    const key = JSON.stringify([namespace, runId]);
    const known = stores.get(key);
    if (known !== undefined) return known;
    const tenant = namespace === undefined ? store : store.namespace(namespace);
    if ((await tenant.runs.journal(runId)) === undefined) throw unrecorded(runId);
    if (stores.size >= mostKnown) stores.clear();
    stores.set(key, tenant);
    return tenant;
  };
  return {
    name: "budget",
    isShared: true,
    async decide(state, { step, namespace } = { step: undefined }) {
      if (step !== undefined) checkPriced(step);
      const tenant = await storeOf(state.runId, namespace);
      const today = startOfDay(Date.now());
      const [all] = await tenant.numbers({ since: new Date(today) });
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
