// Usage: the tokens that a model reported, their sums, and their cost by your own prices or else by the list prices. Estimates are in
// token-counter.ts.
import { isObject } from "../base/json.ts";
import { checkValue, someText } from "../base/options.ts";
import { type ModelPrice, type PriceTable, priceOf } from "./price-of.ts";
import { listPrices } from "./prices.ts";

/** Tokens as the provider reported them. Cached and cache-written input are parts of the input, reasoning is part of the output. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  /** Input that was read from the provider's cache. */
  readonly cachedInputTokens?: number;
  /** Input that was written to the provider's cache. */
  readonly cacheWriteTokens?: number;
  readonly reasoningTokens?: number;
}

/** No tokens at all. */
export const noUsage: Usage = Object.freeze({ inputTokens: 0, outputTokens: 0, totalTokens: 0 });

/** The sum of two usages. A detail that neither reported stays unreported. */
export function addUsage(a: Usage, b: Usage): Usage {
  const cachedInputTokens = addOptional(a.cachedInputTokens, b.cachedInputTokens);
  const cacheWriteTokens = addOptional(a.cacheWriteTokens, b.cacheWriteTokens);
  const reasoningTokens = addOptional(a.reasoningTokens, b.reasoningTokens);
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    totalTokens: a.totalTokens + b.totalTokens,
    ...(cachedInputTokens === undefined ? undefined : { cachedInputTokens }),
    ...(cacheWriteTokens === undefined ? undefined : { cacheWriteTokens }),
    ...(reasoningTokens === undefined ? undefined : { reasoningTokens }),
  };
}

/** The first usage minus the second, never below 0. */
export function subtractUsage(a: Usage, b: Usage): Usage {
  const rest = (key: keyof Usage): number => Math.max(0, (a[key] ?? 0) - (b[key] ?? 0));
  return {
    inputTokens: rest("inputTokens"),
    outputTokens: rest("outputTokens"),
    totalTokens: rest("totalTokens"),
    ...(a.cachedInputTokens === undefined ? undefined : { cachedInputTokens: rest("cachedInputTokens") }),
    ...(a.cacheWriteTokens === undefined ? undefined : { cacheWriteTokens: rest("cacheWriteTokens") }),
    ...(a.reasoningTokens === undefined ? undefined : { reasoningTokens: rest("reasoningTokens") }),
  };
}

/** The usages of several models, by model id. */
export type UsageByModel = Readonly<Record<string, Usage>>;

/** The sum of the usages of all models. */
export function totalUsage(usageByModel: UsageByModel): Usage {
  const usages = Object.values(usageByModel);
  return usages.length === 0 ? noUsage : usages.reduce((sum, usage) => addUsage(sum, usage));
}

function addOptional(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : a + (b ?? 0);
}

/** The tokens that a run and its subagents have used so far, by model. Entries reach the ledgers of all parent runs. */
export class Ledger {
  readonly #parent: Ledger | undefined;
  #usageByModel: UsageByModel = {};

  constructor(parent: Ledger | undefined) {
    this.#parent = parent;
  }

  /** The usage so far. Each entry creates a new object, so this one never changes. */
  get usageByModel(): UsageByModel {
    return this.#usageByModel;
  }

  /** Restores the usage from before the run was resumed. Does not add it to the parent's ledger. */
  restore(usageByModel: UsageByModel): void {
    this.#usageByModel = usageByModel;
  }

  add(modelId: string, usage: Usage): void {
    const before = this.#usageByModel;
    const sum = Object.hasOwn(before, modelId) ? addUsage(before[modelId] as Usage, usage) : usage;
    this.#usageByModel = { ...before, [modelId]: sum };
    this.#parent?.add(modelId, usage);
  }
}

/**
 * The cost of a usage in US dollars, or undefined if the model has no known price. Your own prices come before the list prices.
 * A model whose name ends with ":free" costs nothing.
 */
export function costOf(usage: Usage, model: string, prices: PriceTable = {}): number | undefined {
  checkValue("usage", usage ?? null, { isFit: isUsage, words: "a usage, { inputTokens, outputTokens }" });
  checkValue("model", model ?? null, someText);
  checkValue("prices", prices ?? null, { isFit: isObject, words: "prices by model name" });
  return new Pricing(prices).costOf(usage, model);
}

function isUsage(value: unknown): boolean {
  return isObject(value) && typeof value.inputTokens === "number" && typeof value.outputTokens === "number";
}

/** Computes costs with these tables, then with the list prices: the first table with a price counts. Looks up each model once. */
export class Pricing {
  readonly #tables: readonly PriceTable[];
  readonly #known = new Map<string, ModelPrice | undefined>();

  constructor(...tables: readonly (PriceTable | undefined)[]) {
    this.#tables = [...tables, listPrices].filter((table) => table !== undefined);
  }

  costOf(usage: Usage, model: string): number | undefined {
    if (!this.#known.has(model)) this.#known.set(model, this.#find(model));
    const price = this.#known.get(model);
    return price && applyPrice(usage, price);
  }

  /** The cost of several models together: undefined if one that was used has no known price, and 0 if none was used. */
  totalCost(usageByModel: UsageByModel): number | undefined {
    let total = 0;
    for (const [model, usage] of Object.entries(usageByModel)) {
      if (usage.totalTokens === 0) continue;
      const cost = this.costOf(usage, model);
      if (cost === undefined) return undefined;
      total += cost;
    }
    return total;
  }

  #find(model: string): ModelPrice | undefined {
    if (model.endsWith(":free")) return { input: 0, output: 0 };
    for (const table of this.#tables) {
      const price = priceOf(model, table);
      if (price !== undefined) return price;
    }
    return undefined;
  }
}

// Cached and written tokens are parts of the input.
function applyPrice(usage: Usage, { input, output, cachedInput = input, cacheWrite = input }: ModelPrice): number {
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 } = usage;
  const cached = Math.min(cachedInputTokens, inputTokens);
  const written = Math.min(cacheWriteTokens, inputTokens - cached);
  const other = inputTokens - cached - written;
  return (other * input + cached * cachedInput + written * cacheWrite + outputTokens * output) / 1e6;
}
