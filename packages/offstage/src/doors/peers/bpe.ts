// "offstage/bpe": exact token counts. Needs the package "gpt-tokenizer".
export { type BpeEncoding, type BpeTokenCounterOptions, bpeTokenCounter } from "../../tokens/bpe.ts";
