// Usage: the tokens a model reported. Plain data and its sum; prices are in cost.ts, estimates in token-counter.ts.
import type { Mutable } from "../base/mutable.ts";

/** Tokens as the provider reported them. Cached input and reasoning are parts of input and output, not additions. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly cachedInputTokens?: number;
  readonly reasoningTokens?: number;
}

/** No tokens at all. */
export const noUsage: Usage = Object.freeze({ inputTokens: 0, outputTokens: 0, totalTokens: 0 });

/** The sum of two usages; a detail that neither reported stays unreported. */
export function addUsage(a: Usage, b: Usage): Usage {
  const sum: Mutable<Usage> = {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    totalTokens: a.totalTokens + b.totalTokens,
  };
  const cached = addOptional(a.cachedInputTokens, b.cachedInputTokens);
  if (cached !== undefined) sum.cachedInputTokens = cached;
  const reasoning = addOptional(a.reasoningTokens, b.reasoningTokens);
  if (reasoning !== undefined) sum.reasoningTokens = reasoning;
  return sum;
}

/** What the first usage has more than the second, never below nothing. */
export function subtractUsage(a: Usage, b: Usage): Usage {
  const rest = (key: keyof Usage): number => Math.max(0, (a[key] ?? 0) - (b[key] ?? 0));
  return {
    inputTokens: rest("inputTokens"),
    outputTokens: rest("outputTokens"),
    totalTokens: rest("totalTokens"),
    ...(a.cachedInputTokens === undefined ? undefined : { cachedInputTokens: rest("cachedInputTokens") }),
    ...(a.reasoningTokens === undefined ? undefined : { reasoningTokens: rest("reasoningTokens") }),
  };
}

/** The usages of several models, by model id. */
export type UsageByModel = Readonly<Record<string, Usage>>;

/** The sum of all models; of one alone, what that one has. */
export function totalUsage(usageByModel: UsageByModel): Usage {
  let total: Usage | undefined;
  for (const modelId in usageByModel) {
    const usage = usageByModel[modelId] as Usage;
    total = total === undefined ? usage : addUsage(total, usage);
  }
  return total ?? noUsage;
}

function addOptional(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : a + (b ?? 0);
}
