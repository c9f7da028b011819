import { describe, expect, test } from "vitest";
import { type PriceTable, priceOf } from "./price-of.ts";

const one = (output: number) => ({ input: 1, output });
const table: PriceTable = {
  "claude-sonnet-4-5": one(1),
  "claude-sonnet-4": one(2),
  "anthropic.claude-opus-5": one(3),
  "global.anthropic.claude-opus-5": one(4),
  "claude-opus-5": one(5),
  "gpt-5": one(6),
  "gpt-5.1": one(7),
  "gpt-5-mini": one(8),
  "gemini-2.5-pro": one(9),
  o3: one(10),
  "o3-mini": one(11),
  "accounts/fireworks/models/kimi-k2": one(12),
  "meta-llama/Llama-3.3-70B": one(13),
  "command-r": one(14),
  "mistral-7b": one(15),
};

const names: readonly (readonly [string, string])[] = [
  // As the provider writes it, with a date or a version.
  ["claude-sonnet-4-5", "claude-sonnet-4-5"],
  ["claude-sonnet-4-5-20250929", "claude-sonnet-4-5"],
  ["claude-sonnet-4-5@20250929", "claude-sonnet-4-5"],
  ["claude-sonnet-4-5-latest", "claude-sonnet-4-5"],
  ["claude-sonnet-4.5", "claude-sonnet-4-5"],
  ["claude-sonnet-4-20250514", "claude-sonnet-4"],
  ["claude-sonnet-4@20250514", "claude-sonnet-4"],
  ["gpt-5-2025-08-07", "gpt-5"],
  ["gpt-5.1-2025-11-13", "gpt-5.1"],
  ["gpt-5-1", "gpt-5.1"],
  ["gpt-5-mini-2025-08-07", "gpt-5-mini"],
  ["gpt-5-foo-unknown", "gpt-5"],
  ["gpt-5-09-2025", "gpt-5"],
  ["o3-2025-04-16", "o3"],
  ["o3:thinking", "o3"],
  ["O3-Mini", "o3-mini"],
  ["command-r-08-2024", "command-r"],
  ["mistral-7b-instruct", "mistral-7b"],
  // Bedrock: regions, vendors, inference profiles.
  ["anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"],
  ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"],
  ["us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"],
  ["arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"],
  ["arn:aws:bedrock:eu-west-1::foundation-model/anthropic.claude-opus-5-v1:0", "anthropic.claude-opus-5"],
  ["eu.anthropic.claude-opus-5-v1:0", "anthropic.claude-opus-5"],
  ["global.anthropic.claude-opus-5-v1:0", "global.anthropic.claude-opus-5"],
  ["bedrock/us.anthropic.claude-opus-5-v1:0", "anthropic.claude-opus-5"],
  // Gateways and clouds.
  ["anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"],
  ["openrouter/anthropic/claude-sonnet-4.5:beta", "claude-sonnet-4-5"],
  ["vertex_ai/claude-sonnet-4-5@20250929", "claude-sonnet-4-5"],
  ["publishers/anthropic/models/claude-opus-5", "claude-opus-5"],
  ["models/gemini-2.5-pro", "gemini-2.5-pro"],
  ["google/gemini-2.5-pro-preview-05-06", "gemini-2.5-pro"],
  ["azure/eu/gpt-5-mini", "gpt-5-mini"],
  ["openai/gpt-5.1", "gpt-5.1"],
  ["accounts/fireworks/models/kimi-k2", "accounts/fireworks/models/kimi-k2"],
  ["fireworks_ai/accounts/fireworks/models/kimi-k2", "accounts/fireworks/models/kimi-k2"],
  ["together_ai/meta-llama/Llama-3.3-70B-Instruct-Turbo", "meta-llama/Llama-3.3-70B"],
];

describe("the price of a model", () => {
  test.for(names)("%s is that of %s", ([model, key]) => {
    expect(priceOf(model, table)).toBe(table[key]);
  });

  test.for([
    "o3x-whatever",
    "o",
    "gpt-50",
    "gpt-5.2",
    "gpt-5.10",
    "gpt-5-2-pro",
    "claude-sonnet-4-6",
    "claude-sonnet",
    "gemini-2.5-professional",
    "llama-3.3-70b-versatile",
    "my-gpt-5",
    "arn:aws:bedrock:us-east-1:1:application-inference-profile/abc123",
    "",
    "/",
    "toString",
    "__proto__",
  ])("%s is unknown if only shorter names, other versions or parts of it are listed", (model) => {
    expect(priceOf(model, table)).toBeUndefined();
  });

  test("is that of a beginning that ends with a mark, whatever follows", () => {
    expect(priceOf("openai/gpt-9", { "openai/": one(1) })).toEqual(one(1));
    expect(priceOf("gpt-9.1", { "gpt-": one(1) })).toEqual(one(1));
    expect(priceOf("anything", { "": one(1) })).toEqual(one(1));
  });
});
