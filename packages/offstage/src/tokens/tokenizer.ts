// The tokenizer behind exact counts: loaded from an optional package, with an error that says what to install.
import { OffstageError } from "../errors.ts";

/** What we use of the package. */
export interface Tokenizer {
  countTokens(text: string, options: { disallowedSpecial: Set<string> }): number;
}

/** The tokenizer of one encoding. `load` is how a package is required. */
export function loadTokenizer(encoding: string, load: (name: string) => unknown): Tokenizer {
  try {
    return load(`gpt-tokenizer/encoding/${encoding}`) as Tokenizer;
  } catch (cause) {
    const sentence = 'Exact token counts need the package "gpt-tokenizer": run `npm install gpt-tokenizer`.';
    throw new OffstageError("missing-package", sentence, { cause });
  }
}
