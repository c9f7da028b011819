// Cost: what a usage costs at a price table. The table itself is data, in prices.ts; tokens are counted elsewhere.
import { listPrices, type ModelPrice, type PriceTable } from "./prices.ts";
import type { Usage } from "./usage.ts";

/**
 * What a usage costs in US dollars, or undefined where the model's price is unknown. A provider before the name
 * ("openai/gpt-5") may be left out of the table.
 */
export function costOf(usage: Usage, model: string, prices: PriceTable = listPrices): number | undefined {
  const price = priceOf(model, prices) ?? priceOf(model.slice(model.lastIndexOf("/") + 1), prices);
  if (price === undefined) return undefined;
  const cached = Math.min(usage.cachedInputTokens ?? 0, usage.inputTokens);
  const input = (usage.inputTokens - cached) * price.input + cached * (price.cachedInput ?? price.input);
  return (input + usage.outputTokens * price.output) / 1e6;
}

function priceOf(model: string, prices: PriceTable): ModelPrice | undefined {
  let longest: string | undefined;
  for (const name of Object.keys(prices)) {
    if (model.startsWith(name) && name.length > (longest?.length ?? -1)) longest = name;
  }
  return longest === undefined ? undefined : prices[longest];
}
