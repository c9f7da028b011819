import { describe, expect, test } from "vitest";
import { costOf } from "./cost.ts";

const million = { inputTokens: 1_000_000, outputTokens: 1_000_000, totalTokens: 2_000_000 };
const prices = { "gpt-4o": { input: 2, output: 10, cachedInput: 1 }, "gpt-4o-mini": { input: 0.5, output: 1 } };

describe("costOf", () => {
  test("prices input and output per million tokens", () => {
    expect(costOf(million, "gpt-4o", prices)).toBe(12);
  });

  test("uses the price of the longest matching prefix of the model name", () => {
    expect(costOf(million, "gpt-4o-mini-2024-07-18", prices)).toBe(1.5);
    expect(costOf(million, "gpt-4o-2024-08-06", prices)).toBe(12);
  });

  test("is undefined for a model without a price", () => {
    expect(costOf(million, "llama-3", prices)).toBeUndefined();
    expect(costOf(million, "gpt-4", prices)).toBeUndefined();
    expect(costOf(million, "toString", {})).toBeUndefined();
  });

  test("prices cached input separately, as part of the input", () => {
    expect(costOf({ ...million, cachedInputTokens: 500_000 }, "gpt-4o", prices)).toBe(11.5);
    expect(costOf({ ...million, cachedInputTokens: 500_000 }, "gpt-4o-mini", prices)).toBe(1.5);
    expect(costOf({ ...million, cachedInputTokens: 9_000_000 }, "gpt-4o", prices)).toBe(11);
  });

  test("counts reasoning tokens as part of the output", () => {
    expect(costOf({ ...million, reasoningTokens: 900_000 }, "gpt-4o", prices)).toBe(12);
  });

  test("accepts a model name with its provider as prefix", () => {
    expect(costOf(million, "openai/gpt-4o", prices)).toBe(12);
    expect(costOf(million, "openai/gpt-4o", { "openai/": { input: 1, output: 1 } })).toBe(2);
  });

  test("refuses wrong values with a sentence", () => {
    const cost = (usage: unknown, model: unknown, table?: unknown) => () =>
      costOf(usage as typeof million, model as string, table as typeof prices);
    expect(cost(undefined, "gpt-4o")).toThrow('"usage" must be a usage, { inputTokens, outputTokens }; found null.');
    expect(cost({ inputTokens: 1 }, "gpt-4o")).toThrow('"usage" must be a usage');
    expect(cost(million, undefined)).toThrow('"model" must be text; found null.');
    expect(cost(million, "gpt-4o", 5)).toThrow('"prices" must be prices by model name; found 5.');
    expect(cost(million, "gpt-4o", { "gpt-4o": 5 })).toThrow('The price of "gpt-4o" must be { input, output }');
  });

  test("has a small price table by default", () => {
    expect(costOf(million, "gpt-4o-mini")).toBeGreaterThan(0);
    expect(costOf(million, "claude-sonnet-4-5")).toBeGreaterThan(0);
  });
});
