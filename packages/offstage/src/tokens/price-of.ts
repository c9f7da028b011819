// Finds the price of a model in a table, by the names that providers and gateways give it. The list prices are data, in prices.ts.
import { isObject } from "../base/json.ts";
import type { OptionRule } from "../base/options.ts";
import { OffstageError } from "../errors.ts";

/** The price of one model, in US dollars per million tokens. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  /** Input read from the provider's cache. Default: the price of other input. */
  readonly cachedInput?: number | undefined;
  /** Input written to the provider's cache. Default: the price of other input. */
  readonly cacheWrite?: number | undefined;
}

/**
 * Prices by the beginning of a model's name. The longest beginning that fits counts. A beginning ends with a whole word or version:
 * "gpt-5" fits "gpt-5-mini" and "gpt-5-2025-08-07", but neither "gpt-50" nor "gpt-5.1". One that ends with a mark, such as
 * "openai/", fits everything that starts with it.
 */
export type PriceTable = Readonly<Record<string, ModelPrice>>;

/** A table in which every price is complete. */
export const priceTable: OptionRule = {
  isFit: (value) => isObject(value) && Object.values(value).every(isPrice),
  words: 'prices by model name, such as { "my-model": { input: 1, output: 2 } }',
};

/**
 * The price of a model; undefined if the table has none. A name that does not fit is tried again without each of its leading parts:
 * a gateway, an account, a region or a vendor. Dots in versions count as dashes, and upper case as lower case.
 */
export function priceOf(model: string, table: PriceTable): ModelPrice | undefined {
  const beginnings = Object.keys(table).map((key) => ({ key, beginning: plainName(key) }));
  for (const name of namesOf(model)) {
    const fitting = beginnings.filter(({ beginning }) => isBeginning(beginning, name));
    if (fitting.length === 0) continue;
    const { key } = fitting.reduce((a, b) => (b.beginning.length > a.beginning.length ? b : a));
    return checkedPrice(key, table[key]);
  }
  return undefined;
}

// "us.anthropic.claude-x", then "anthropic.claude-x", then "claude-x".
function namesOf(model: string): string[] {
  const names = [plainName(model)];
  for (const name of names) {
    const rest = name.replace(leadingPart, "");
    if (rest !== name) names.push(rest);
  }
  return names;
}

// A part before a slash, as in "openrouter/" or an ARN, or a word before a dot, as in "us." or "anthropic.".
const leadingPart = /^(?:[^/]*\/|[a-z-]+\.)/;

function plainName(name: string): string {
  return name.toLowerCase().replace(/(?<=\d)\.(?=\d)/g, "-");
}

function isBeginning(beginning: string, name: string): boolean {
  if (!name.startsWith(beginning)) return false;
  if (!/[a-z0-9]$/.test(beginning)) return true;
  const rest = name.slice(beginning.length);
  if (/^[a-z0-9]/.test(rest)) return false;
  return !(/\d$/.test(beginning) && furtherVersion.test(rest));
}

// The rest of "gpt-5.1" after "gpt-5". A size such as "-8b" is none, and neither is a date such as "-20250929" or "-09-2025".
const furtherVersion = /^-\d{1,2}(?![a-z0-9]|-\d{4}(?!\d))/;

function checkedPrice(key: string, price: unknown): ModelPrice {
  if (isPrice(price)) return price;
  throw new OffstageError(
    "invalid-argument",
    `The price of "${key}" must be { input, output }, in US dollars per million tokens.`,
  );
}

function isPrice(value: unknown): value is ModelPrice {
  if (!isObject(value)) return false;
  const { input, output, cachedInput = 0, cacheWrite = 0 } = value;
  return [input, output, cachedInput, cacheWrite].every((price) => typeof price === "number");
}
