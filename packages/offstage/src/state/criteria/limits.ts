// Limits: token, time, cost and deadline. Each votes to stop; no vote to continue can override it.
import { checkOptions, checkRequired, type OptionRule, positiveNumber } from "../../base/options.ts";
import { OffstageError } from "../../errors.ts";
import { type PriceTable, priceTable } from "../../tokens/price-of.ts";
import { Pricing } from "../../tokens/usage.ts";
import type { AgentState } from "../agent-state.ts";
import { type Criterion, limitReached } from "../criterion.ts";
import type { Step } from "../step.ts";

/** Stops the run once it has used this many tokens, including its subagents. */
export function tokenLimit(maxTokens: number): Criterion {
  checkRequired("maxTokens", maxTokens, positiveNumber);
  return {
    name: "token-limit",
    isShared: true,
    decide: ({ usage }) =>
      usage.totalTokens >= maxTokens
        ? limitReached("token-limit", `The run used ${usage.totalTokens} tokens; its limit is ${maxTokens}.`)
        : undefined,
  };
}

/** Stops the run once it has taken this long. Checked between steps. */
export function timeLimit(maxMs: number): Criterion {
  checkRequired("maxMs", maxMs, positiveNumber);
  return {
    name: "time-limit",
    isShared: true,
    decide({ startedAt }) {
      const elapsed = startedAt === undefined ? 0 : Date.now() - startedAt;
      if (elapsed < maxMs) return undefined;
      return limitReached("time-limit", `The run took ${elapsed} ms; its limit is ${maxMs} ms.`);
    },
  };
}

const moment: OptionRule = {
  isFit: (value) => (value instanceof Date || typeof value === "number") && Number.isFinite(Number(value)),
  words: "a date or epoch milliseconds",
};

/** Stops the run from this moment on. Checked between steps. */
export function deadline(at: Date | number): Criterion {
  checkRequired("at", at, moment);
  const time = Number(at);
  return {
    name: "deadline",
    isShared: true,
    decide: () =>
      Date.now() >= time
        ? limitReached("deadline", `The deadline ${new Date(time).toISOString()} has passed.`)
        : undefined,
  };
}

export interface CostLimitOptions {
  /** Prices by model name. They come before those of the agent and before the list prices. */
  readonly prices?: PriceTable | undefined;
}

/** Stops the run once it has cost this much, in US dollars. Fails it with `unpriced-model` if a model has no known price. */
export function costLimit(maxCost: number, options: CostLimitOptions = {}): Criterion {
  checkRequired("maxCost", maxCost, positiveNumber);
  checkOptions(options, { prices: priceTable }, "costLimit()");
  const decideBy = (pricing: Pricing) => (state: AgentState) => {
    const cost = knownCost(state, pricing);
    return cost >= maxCost ? limitReached("cost-limit", `The run cost ${cost}; its limit is ${maxCost}.`) : undefined;
  };
  const limit: CostLimit = {
    name: "cost-limit",
    isShared: true,
    decide: decideBy(new Pricing(options.prices)),
    [decideWith]: (prices) => decideBy(new Pricing(options.prices, prices)),
  };
  return limit;
}

const decideWith: unique symbol = Symbol("decideWith");

interface CostLimit extends Criterion {
  /** Makes `decide` with the prices of an agent. */
  readonly [decideWith]: (prices: PriceTable) => Criterion["decide"];
}

/** Lets a cost limit use the prices of its agent. Returns any other criterion as it is. */
export function withAgentPrices(criterion: Criterion, prices: PriceTable | undefined): Criterion {
  if (prices === undefined || !(decideWith in criterion)) return criterion;
  return { ...criterion, decide: (criterion as CostLimit)[decideWith](prices) };
}

function knownCost({ usageByModel }: AgentState, pricing: Pricing): number {
  const costs = Object.entries(usageByModel).map(([modelId, usage]) => {
    const cost = pricing.costOf(usage, modelId);
    checkPriced({ modelId, usage, cost });
    return cost ?? 0;
  });
  return costs.reduce((sum, cost) => sum + cost, 0);
}

interface PricedUsage extends Pick<Step, "modelId" | "usage"> {
  readonly cost?: number | undefined;
}

/** Throws `unpriced-model` if tokens of a model without a known price were used: a limit of costs cannot hold then. */
export function checkPriced({ modelId, usage, cost }: PricedUsage): void {
  if (cost !== undefined || usage.totalTokens === 0) return;
  const sentence = `The model "${modelId}" has no known price, so its cost cannot be limited. Pass its price to the agent: prices: { "${modelId}": { input, output } }, in US dollars per million tokens.`;
  throw new OffstageError("unpriced-model", sentence);
}
