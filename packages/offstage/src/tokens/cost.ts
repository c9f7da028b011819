// Cost: the cost of a usage by a price table. The built-in table is data, in prices.ts.
import { isObject } from "../base/json.ts";
import { checkValue, someText } from "../base/options.ts";
import { OffstageError } from "../errors.ts";
import { listPrices, type ModelPrice, type PriceTable } from "./prices.ts";
import type { Usage } from "./usage.ts";

/**
 * The cost of a usage in US dollars, or undefined if the table has no price for the model. The table may leave out the provider in
 * front of a name ("openai/gpt-5").
 */
export function costOf(usage: Usage, model: string, prices: PriceTable = listPrices): number | undefined {
  checkValue("usage", usage ?? null, { isFit: isUsage, words: "a usage, { inputTokens, outputTokens }" });
  checkValue("model", model ?? null, someText);
  checkValue("prices", prices ?? null, { isFit: isObject, words: "prices by model name" });
  const price = priceOf(model, prices) ?? priceOf(model.slice(model.lastIndexOf("/") + 1), prices);
  if (price === undefined) return undefined;
  const cached = Math.min(usage.cachedInputTokens ?? 0, usage.inputTokens);
  const input = (usage.inputTokens - cached) * price.input + cached * (price.cachedInput ?? price.input);
  return (input + usage.outputTokens * price.output) / 1e6;
}

function isUsage(value: unknown): boolean {
  return isObject(value) && typeof value.inputTokens === "number" && typeof value.outputTokens === "number";
}

function priceOf(model: string, prices: PriceTable): ModelPrice | undefined {
  let longest: string | undefined;
  for (const name of Object.keys(prices)) {
    if (model.startsWith(name) && name.length > (longest?.length ?? -1)) longest = name;
  }
  if (longest === undefined) return undefined;
  const price = prices[longest];
  if (isObject(price) && typeof price.input === "number" && typeof price.output === "number") return price;
  throw new OffstageError(
    "invalid-argument",
    `The price of "${longest}" must be { input, output }, in US dollars per million tokens.`,
  );
}
