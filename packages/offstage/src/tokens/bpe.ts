// bpeTokenCounter: exact counts by byte-pair encoding, with the optional package gpt-tokenizer. Subpath `offstage/bpe`.
import { createRequire } from "node:module";
import { OffstageError } from "../errors.ts";
import { type TokenCounter, tokenCounter } from "./token-counter.ts";
import { loadTokenizer } from "./tokenizer.ts";

const encodings = ["o200k_base", "o200k_harmony", "cl100k_base", "p50k_base", "p50k_edit", "r50k_base"] as const;

/** The encodings by name: o200k_base for current OpenAI models, cl100k_base for GPT-4 and GPT-3.5. */
export type BpeEncoding = (typeof encodings)[number];

export interface BpeTokenCounterOptions {
  /** Default "o200k_base". */
  readonly encoding?: BpeEncoding;
}

/**
 * A counter whose counts are the tokenizer's own. Loads the tables of its encoding when it is made (about 0.2 s), so
 * that counting is synchronous. Throws `missing-package` where gpt-tokenizer is not installed.
 */
export function bpeTokenCounter(options: BpeTokenCounterOptions = {}): TokenCounter {
  const { encoding = "o200k_base" } = options;
  if (!encodings.includes(encoding)) {
    const sentence = `There is no encoding "${encoding}"; there are ${encodings.map((name) => `"${name}"`).join(", ")}.`;
    throw new OffstageError("invalid-argument", sentence);
  }
  const tokenizer = loadTokenizer(encoding, createRequire(import.meta.url));
  // Text that looks like a special token is text: it came from a user, not from a prompt template.
  const asText = { disallowedSpecial: new Set<string>() };
  return tokenCounter({ count: (text) => tokenizer.countTokens(text, asText) });
}
