import { describe, expect, test } from "vitest";
import { addUsage, subtractUsage, totalUsage } from "./usage.ts";

const plain = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
const detailed = { ...plain, cachedInputTokens: 4, cacheWriteTokens: 3, reasoningTokens: 2 };

describe("usages", () => {
  test("add up, with cached, written and reasoning tokens", () => {
    expect(addUsage(detailed, detailed)).toEqual({
      inputTokens: 20,
      outputTokens: 10,
      totalTokens: 30,
      cachedInputTokens: 8,
      cacheWriteTokens: 6,
      reasoningTokens: 4,
    });
  });

  test("add up to a detail that only one of them reported, and leave out one that neither did", () => {
    expect(addUsage(plain, { ...plain, cacheWriteTokens: 3 })).toEqual({
      inputTokens: 20,
      outputTokens: 10,
      totalTokens: 30,
      cacheWriteTokens: 3,
    });
  });

  test("subtract, never below 0", () => {
    expect(subtractUsage(detailed, { ...plain, cacheWriteTokens: 1, reasoningTokens: 9 })).toEqual({
      inputTokens: 0,
      outputTokens: 0,
      totalTokens: 0,
      cachedInputTokens: 4,
      cacheWriteTokens: 2,
      reasoningTokens: 0,
    });
  });

  test("of several models add up to one", () => {
    expect(totalUsage({})).toEqual({ inputTokens: 0, outputTokens: 0, totalTokens: 0 });
    expect(totalUsage({ a: plain, b: detailed })).toMatchObject({ totalTokens: 30, cacheWriteTokens: 3 });
  });
});
