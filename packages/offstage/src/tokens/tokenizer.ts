// The tokenizer of exact counts, from an optional package.
import { OffstageError } from "../errors.ts";

/** The part of the package that we use. */
export interface Tokenizer {
  countTokens(text: string, options: { disallowedSpecial: Set<string> }): number;
}

/** Loads the tokenizer of one encoding. `load` requires a package. Throws `missing-package` if it is not installed. */
export function loadTokenizer(encoding: string, load: (name: string) => unknown): Tokenizer {
  try {
    return load(`gpt-tokenizer/encoding/${encoding}`) as Tokenizer;
  } catch (cause) {
    const sentence = 'Exact token counts need the package "gpt-tokenizer": run `npm install gpt-tokenizer`.';
    throw new OffstageError("missing-package", sentence, { cause });
  }
}
