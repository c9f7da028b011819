// Hard limits: step, token, time, cost, deadline and retry. Each votes to stop; no vote to continue can override it.

import { shownValue } from "../../base/options.ts";
import { OffstageError } from "../../errors.ts";
import { costOf } from "../../tokens/cost.ts";
import type { PriceTable } from "../../tokens/prices.ts";
import type { AgentState } from "../agent-state.ts";
import type { Criterion } from "../criterion.ts";
import type { OutcomeReason, Verdict } from "../outcome.ts";
import type { Correction } from "../step.ts";

/** At most this many steps in a run. On by default, with 20. */
export function stepLimit(maxSteps = 20): Criterion {
  positiveInteger("maxSteps", maxSteps);
  return {
    name: "step-limit",
    decide: (state) =>
      state.stepCount >= maxSteps
        ? stop("step-limit", `The run reached its limit of ${maxSteps} ${maxSteps === 1 ? "step" : "steps"}.`)
        : undefined,
  };
}

/** At most this many tokens in a run, its subagents included. */
export function tokenLimit(maxTokens: number): Criterion {
  positive("maxTokens", maxTokens);
  return {
    name: "token-limit",
    isShared: true,
    decide: ({ usage }) =>
      usage.totalTokens >= maxTokens
        ? stop("token-limit", `The run used ${usage.totalTokens} tokens; its limit is ${maxTokens}.`)
        : undefined,
  };
}

/** At most this long, measured between steps. */
export function timeLimit(maxMs: number): Criterion {
  positive("maxMs", maxMs);
  return {
    name: "time-limit",
    isShared: true,
    decide: (state) => {
      const elapsed = Date.now() - (state.startedAt ?? Date.now());
      return elapsed >= maxMs ? stop("time-limit", `The run took ${elapsed} ms; its limit is ${maxMs} ms.`) : undefined;
    },
  };
}

/** Not past this moment. */
export function deadline(at: Date | number): Criterion {
  const moment = Number(at);
  if (!Number.isFinite(moment))
    throw new OffstageError("invalid-argument", `"at" must be a date or epoch milliseconds; found ${String(at)}.`);
  return {
    name: "deadline",
    isShared: true,
    decide: () =>
      Date.now() >= moment ? stop("deadline", `The deadline ${new Date(moment).toISOString()} has passed.`) : undefined,
  };
}

export interface CostLimitOptions {
  /** Prices by model id; the built-in table if left out. */
  readonly prices?: PriceTable;
}

/** At most this much money, in the currency of the price table. A model without a known price counts as free. */
export function costLimit(maxCost: number, options: CostLimitOptions = {}): Criterion {
  positive("maxCost", maxCost);
  return {
    name: "cost-limit",
    isShared: true,
    decide: (state) => {
      const cost = totalCost(state, options.prices);
      return cost >= maxCost ? stop("cost-limit", `The run cost ${cost}; its limit is ${maxCost}.`) : undefined;
    },
  };
}

function totalCost(state: AgentState, prices: PriceTable | undefined): number {
  let sum = 0;
  for (const [modelId, usage] of Object.entries(state.usageByModel)) sum += costOf(usage, modelId, prices) ?? 0;
  return sum;
}

/** At most this many corrections in a row; then the run fails. */
export function retryLimit(maxRetries = 2): Criterion {
  if (!Number.isInteger(maxRetries) || maxRetries < 0)
    throw outOfRange("maxRetries", "a non-negative integer", maxRetries);
  return {
    name: "retry-limit",
    decide: (state) => {
      const correction = state.currentStep?.correction;
      return correction === undefined ? undefined : judgeRetries(state, { correction, maxRetries });
    },
  };
}

interface Retries {
  readonly correction: Correction;
  readonly maxRetries: number;
}

function judgeRetries(state: AgentState, { correction, maxRetries }: Retries): Verdict | undefined {
  const { length } = trailingCorrections(state, maxRetries + 1);
  if (length <= maxRetries) return undefined;
  const tries = length === 1 ? "one try" : `${length} tries`;
  const message = `The model did not get it right in ${tries}: ${correction.message}`;
  return stop("retry-limit", message, "failed");
}

function trailingCorrections(state: AgentState, most: number): readonly unknown[] {
  const recent = state.steps.slice(-most).reverse();
  const end = recent.findIndex((step) => step.correction === undefined);
  return end === -1 ? recent : recent.slice(0, end);
}

function stop(reason: OutcomeReason, message: string, status: Verdict["status"] = "stopped"): Verdict {
  return { decision: "stop", reason, message, status, isLimit: status === "stopped" };
}

function positive(name: string, value: number): void {
  if (typeof value !== "number" || !(value > 0)) throw outOfRange(name, "a positive number", value);
}

function positiveInteger(name: string, value: number): void {
  if (!Number.isInteger(value) || value < 1) throw outOfRange(name, "a positive integer", value);
}

function outOfRange(name: string, rule: string, found: unknown): OffstageError {
  return new OffstageError("invalid-argument", `"${name}" must be ${rule}; found ${shownValue(found)}.`);
}
