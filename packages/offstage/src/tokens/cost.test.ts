import { describe, expect, test } from "vitest";
import { listPrices, listPricesDate } from "./prices.ts";
import { costOf, Pricing } from "./usage.ts";

const million = { inputTokens: 1_000_000, outputTokens: 1_000_000, totalTokens: 2_000_000 };
const prices = {
  mine: { input: 2, output: 10, cachedInput: 1, cacheWrite: 3 },
  "mine-mini": { input: 0.5, output: 1 },
};

describe("costOf", () => {
  test("prices input and output per million tokens", () => {
    expect(costOf(million, "mine", prices)).toBe(12);
  });

  test("uses the price of the longest matching beginning of the model name", () => {
    expect(costOf(million, "mine-mini-2024-07-18", prices)).toBe(1.5);
    expect(costOf(million, "mine-2024-08-06", prices)).toBe(12);
  });

  test("is undefined for a model without a price", () => {
    expect(costOf(million, "unheard-of", prices)).toBeUndefined();
    expect(costOf(million, "min", prices)).toBeUndefined();
    expect(costOf(million, "toString", {})).toBeUndefined();
  });

  test("prices cached input separately, as part of the input", () => {
    expect(costOf({ ...million, cachedInputTokens: 500_000 }, "mine", prices)).toBe(11.5);
    expect(costOf({ ...million, cachedInputTokens: 500_000 }, "mine-mini", prices)).toBe(1.5);
    expect(costOf({ ...million, cachedInputTokens: 9_000_000 }, "mine", prices)).toBe(11);
  });

  test("prices input written to the cache separately, as part of the input that was not cached", () => {
    expect(costOf({ ...million, cacheWriteTokens: 500_000 }, "mine", prices)).toBe(12.5);
    expect(costOf({ ...million, cacheWriteTokens: 500_000 }, "mine-mini", prices)).toBe(1.5);
    const both = { ...million, cachedInputTokens: 400_000, cacheWriteTokens: 9_000_000 };
    expect(costOf(both, "mine", prices)).toBeCloseTo(0.4 + 1.8 + 10, 10);
  });

  test("counts reasoning tokens as part of the output", () => {
    expect(costOf({ ...million, reasoningTokens: 900_000 }, "mine", prices)).toBe(12);
  });

  test("accepts a model name with its provider as prefix", () => {
    expect(costOf(million, "openai/mine", prices)).toBe(12);
    expect(costOf(million, "openai/mine", { "openai/": { input: 1, output: 1 } })).toBe(2);
  });

  test("merges your own prices with the list prices: yours win, the others stay", () => {
    const own = { "gpt-5": { input: 1, output: 1 } };
    expect(costOf(million, "gpt-5", own)).toBe(2);
    expect(costOf(million, "gpt-5-mini", own)).toBe(2);
    expect(costOf(million, "gpt-5.1", own)).toBe(costOf(million, "gpt-5.1"));
    expect(costOf(million, "claude-sonnet-4-5", own)).toBe(costOf(million, "claude-sonnet-4-5"));
  });

  test("is 0 for a model that a gateway offers for free", () => {
    expect(costOf(million, "openrouter/deepseek/deepseek-r1:free")).toBe(0);
    expect(costOf(million, "unheard-of:free")).toBe(0);
  });

  test("refuses wrong values with a sentence", () => {
    const cost = (usage: unknown, model: unknown, table?: unknown) => () =>
      costOf(usage as typeof million, model as string, table as typeof prices);
    expect(cost(undefined, "mine")).toThrow('"usage" must be a usage, { inputTokens, outputTokens }; found null.');
    expect(cost({ inputTokens: 1 }, "mine")).toThrow('"usage" must be a usage');
    expect(cost(million, undefined)).toThrow('"model" must be text; found null.');
    expect(cost(million, "mine", 5)).toThrow('"prices" must be prices by model name; found 5.');
    expect(cost(million, "mine", { mine: 5 })).toThrow('The price of "mine" must be { input, output }');
    expect(cost(million, "mine", { mine: { input: 1, output: 1, cacheWrite: "2" } })).toThrow('The price of "mine"');
  });
});

describe("the cost of several models", () => {
  const pricing = new Pricing(prices);

  test("is the sum of their costs", () => {
    expect(pricing.totalCost({ mine: million, "mine-mini": million })).toBe(13.5);
  });

  test("is undefined if one that was used has no price", () => {
    expect(pricing.totalCost({ mine: million, "unheard-of": million })).toBeUndefined();
  });

  test("is 0 if none was used", () => {
    expect(pricing.totalCost({})).toBe(0);
    expect(pricing.totalCost({ "unheard-of": { inputTokens: 0, outputTokens: 0, totalTokens: 0 } })).toBe(0);
  });
});

describe("the list prices", () => {
  test.for([
    ["gpt-4o-mini", 0.15, 0.6],
    ["gpt-5-2025-08-07", 1.25, 10],
    ["o3", 2, 8],
    ["claude-sonnet-4-5-20250929", 3, 15],
    ["anthropic/claude-sonnet-4.5", 3, 15],
    ["anthropic/claude-4.5-sonnet-20250929", 3, 15],
    ["global.anthropic.claude-sonnet-4-5-20250929-v1:0", 3, 15],
    ["gemini-2.5-flash", 0.3, 2.5],
    ["mistral-large-2411", 2, 6],
    ["grok-4-0709", 3, 15],
    ["llama-3.3-70b-versatile", 0.59, 0.79],
    ["amazon.nova-pro-v1:0", 0.8, 3.2],
    ["command-r-plus-08-2024", 2.5, 10],
    ["accounts/fireworks/models/deepseek-v3-0324", 0.9, 0.9],
    ["meta-llama/Llama-3.3-70B-Instruct-Turbo", 0.88, 0.88],
  ] as const)("know %s", ([model, input, output]) => {
    expect(costOf(million, model)).toBeCloseTo(input + output, 10);
  });

  test("of a Bedrock region are higher than the global ones", () => {
    expect(costOf(million, "us.anthropic.claude-sonnet-4-5-20250929-v1:0")).toBeCloseTo(19.8, 10);
    expect(costOf(million, "us.anthropic.claude-3-5-haiku-20241022-v1:0")).toBeCloseTo(4.8, 10);
  });

  test("charge a quarter more for input that is written to Anthropic's cache", () => {
    const written = { inputTokens: 1_000_000, outputTokens: 0, totalTokens: 1_000_000, cacheWriteTokens: 1_000_000 };
    expect(costOf(written, "claude-sonnet-4-5")).toBe(3.75);
    expect(costOf(written, "gpt-5")).toBe(1.25);
  });

  test("do not know models of other makers or versions", () => {
    for (const model of ["scripted", "m", "llama3.2:latest", "gpt-9", "claude-opus-9", "o3x"])
      expect(costOf(million, model)).toBeUndefined();
  });

  test("are numbers, are never cheaper to write to a cache than to read from it, and have a date", () => {
    for (const [name, { input, output, cachedInput = 0, cacheWrite = input }] of Object.entries(listPrices)) {
      expect(
        [input, output, cachedInput, cacheWrite].every((price) => price >= 0 && price < 1000),
        name,
      ).toBe(true);
      expect(cachedInput, name).toBeLessThanOrEqual(cacheWrite);
    }
    expect(listPricesDate).toMatch(/^\d{4}-\d\d-\d\d$/);
  });
});
