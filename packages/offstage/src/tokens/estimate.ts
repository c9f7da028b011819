// Estimate: about how many tokens a text has, without a tokenizer. Exact counts are in bpe.ts.

/** About how many tokens a text has. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / 4);
}
