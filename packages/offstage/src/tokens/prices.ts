// Prices: the price of a model's tokens, and the list prices of well-known models. Data only, and soon out of date: pass your own table to
// `costOf` if money depends on it.

/** The price of one model, in US dollars per million tokens. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  /** Input read from the provider's cache. Default: the price of other input. */
  readonly cachedInput?: number | undefined;
}

/** Prices by the beginning of a model's name. The longest beginning that fits counts. */
export type PriceTable = Readonly<Record<string, ModelPrice>>;

/** The default table of `costOf`: the public list prices of 2025, by the names that the providers' APIs use. */
export const listPrices: PriceTable = {
  "gpt-5": { input: 1.25, cachedInput: 0.125, output: 10 },
  "gpt-5-mini": { input: 0.25, cachedInput: 0.025, output: 2 },
  "gpt-5-nano": { input: 0.05, cachedInput: 0.005, output: 0.4 },
  "gpt-5-pro": { input: 15, output: 120 },
  "gpt-4.1": { input: 2, cachedInput: 0.5, output: 8 },
  "gpt-4.1-mini": { input: 0.4, cachedInput: 0.1, output: 1.6 },
  "gpt-4.1-nano": { input: 0.1, cachedInput: 0.025, output: 0.4 },
  "gpt-4o": { input: 2.5, cachedInput: 1.25, output: 10 },
  "gpt-4o-mini": { input: 0.15, cachedInput: 0.075, output: 0.6 },
  o3: { input: 2, cachedInput: 0.5, output: 8 },
  "o3-mini": { input: 1.1, cachedInput: 0.55, output: 4.4 },
  "o4-mini": { input: 1.1, cachedInput: 0.275, output: 4.4 },
  "claude-opus-4": { input: 15, cachedInput: 1.5, output: 75 },
  "claude-opus-4-5": { input: 5, cachedInput: 0.5, output: 25 },
  "claude-sonnet-4": { input: 3, cachedInput: 0.3, output: 15 },
  "claude-3-7-sonnet": { input: 3, cachedInput: 0.3, output: 15 },
  "claude-3-5-sonnet": { input: 3, cachedInput: 0.3, output: 15 },
  "claude-haiku-4-5": { input: 1, cachedInput: 0.1, output: 5 },
  "claude-3-5-haiku": { input: 0.8, cachedInput: 0.08, output: 4 },
  "gemini-2.5-pro": { input: 1.25, cachedInput: 0.125, output: 10 },
  "gemini-2.5-flash": { input: 0.3, cachedInput: 0.03, output: 2.5 },
  "gemini-2.5-flash-lite": { input: 0.1, cachedInput: 0.01, output: 0.4 },
};
