// Cost: the cost of a usage, by your own prices or else by the list prices.
import { isObject } from "../base/json.ts";
import { checkValue, someText } from "../base/options.ts";
import { type ModelPrice, type PriceTable, priceOf } from "./price-of.ts";
import { listPrices } from "./prices.ts";
import type { Usage, UsageByModel } from "./usage.ts";

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
    return price && priced(usage, price);
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
function priced(usage: Usage, { input, output, cachedInput = input, cacheWrite = input }: ModelPrice): number {
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 } = usage;
  const cached = Math.min(cachedInputTokens, inputTokens);
  const written = Math.min(cacheWriteTokens, inputTokens - cached);
  const other = inputTokens - cached - written;
  return (other * input + cached * cachedInput + written * cacheWrite + outputTokens * output) / 1e6;
}
