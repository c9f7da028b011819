// bpeTokenCounter: exact counts by byte-pair encoding, with the optional package gpt-tokenizer. Subpath `offstage/bpe`.
import { createRequire } from "node:module";
import { missingPackage } from "../base/load-package.ts";
import { checkOptions, oneOf } from "../base/options.ts";
import { type TokenCounter, tokenCounter } from "./token-counter.ts";

const encodings = ["o200k_base", "o200k_harmony", "cl100k_base", "p50k_base", "p50k_edit", "r50k_base"] as const;

/** The encodings by name: o200k_base for current OpenAI models, cl100k_base for GPT-4 and GPT-3.5. */
export type BpeEncoding = (typeof encodings)[number];

export interface BpeTokenCounterOptions {
  /** Default "o200k_base". */
  readonly encoding?: BpeEncoding | undefined;
}

/**
 * Makes a counter with exact counts. Loads the tables of its encoding at once (about 0.2 s), so that counting is synchronous. Throws
 * `missing-package` if gpt-tokenizer is not installed.
 */
export function bpeTokenCounter(options: BpeTokenCounterOptions = {}): TokenCounter {
  checkOptions(options, { encoding: oneOf(...encodings) }, "bpeTokenCounter");
  const { encoding = "o200k_base" } = options;
  const tokenizer = loadTokenizer(encoding, createRequire(import.meta.url));
  // Text that looks like a special token came from a user, not from a prompt template: it is text.
  const asText = { disallowedSpecial: new Set<string>() };
  return tokenCounter({ count: (text) => tokenizer.countTokens(text, asText) });
}

/** The part of the package that we use. */
export interface Tokenizer {
  countTokens(text: string, options: { disallowedSpecial: Set<string> }): number;
}

/** Loads the tokenizer of one encoding. `load` requires a package. Throws `missing-package` if it is not installed. */
export function loadTokenizer(encoding: string, load: (name: string) => unknown): Tokenizer {
  try {
    return load(`gpt-tokenizer/encoding/${encoding}`) as Tokenizer;
  } catch (cause) {
    throw missingPackage({ name: "gpt-tokenizer", user: "bpeTokenCounter()" }, cause);
  }
}
