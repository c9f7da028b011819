// Token counters by name, all for o200k_base: each entry opens one and gives its `count(text)`.
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { benchRoot, partsOf } from "./contenders.mjs";

const { folder } = partsOf("tokenizers");
const load = createRequire(path.join(folder, "package.json"));
const rankFile = path.join(folder, "node_modules/gpt-tokenizer/data/o200k_base.tiktoken");
const offstageFile = path.join(benchRoot, "../packages/offstage/dist/index.js");
const ANY_TEXT = { disallowedSpecial: new Set() };

/** The one the others are checked against. */
export const REFERENCE = "tiktoken (wasm)";

export const TOKENIZERS = {
  "gpt-tokenizer encode": () => {
    const { encode } = load("gpt-tokenizer/encoding/o200k_base");
    return (text) => encode(text, ANY_TEXT).length;
  },
  "gpt-tokenizer countTokens": () => {
    const { countTokens } = load("gpt-tokenizer/encoding/o200k_base");
    return (text) => countTokens(text, ANY_TEXT);
  },
  "js-tiktoken": () => {
    const { Tiktoken } = load("js-tiktoken/lite");
    const encoder = new Tiktoken(load("js-tiktoken/ranks/o200k_base"));
    return (text) => encoder.encode(text, [], []).length;
  },
  [REFERENCE]: () => {
    const encoder = load("tiktoken").get_encoding("o200k_base");
    return (text) => encoder.encode(text, [], []).length;
  },
  "tiktoken lite (wasm)": () => {
    const { Tiktoken } = load("tiktoken/lite");
    const { bpe_ranks, special_tokens, pat_str } = load("tiktoken/encoders/o200k_base.json");
    const encoder = new Tiktoken(bpe_ranks, special_tokens, pat_str);
    return (text) => encoder.encode(text, [], []).length;
  },
  "ai-tokenizer encode": () => {
    const tokenizer = aiTokenizer();
    return (text) => tokenizer.encode(text, [], []).length;
  },
  "ai-tokenizer count": () => {
    const tokenizer = aiTokenizer();
    return (text) => tokenizer.count(text);
  },
  "bpe-lite count": () => {
    const tokenizer = load("bpe-lite").openaiO200k();
    return (text) => tokenizer.count(text);
  },
  "kitoken (wasm)": () => {
    const tokenizer = load("kitoken/node").Kitoken.from_tiktoken(fs.readFileSync(rankFile));
    return (text) => tokenizer.encode(text, false).length;
  },
  "@microsoft/tiktokenizer": () => {
    const { createTokenizer, getRegexByEncoder } = load("@microsoft/tiktokenizer");
    const special = new Map([["<|endoftext|>", 199999]]);
    const tokenizer = createTokenizer(rankFile, special, getRegexByEncoder("o200k_base"));
    return (text) => tokenizer.encode(text, []).length;
  },
  "chars / 4": () => (text) => Math.ceil(text.length / 4),
  "offstage estimate": async () => {
    const { tokenCounter } = await import(pathToFileURL(offstageFile).href);
    const counter = tokenCounter();
    return (text) => counter.count(text);
  },
};

function aiTokenizer() {
  const library = load("ai-tokenizer");
  const encoding = load("ai-tokenizer/encoding/o200k_base");
  const Tokenizer = library.default ?? library.Tokenizer ?? library;
  return new Tokenizer(encoding.default ?? encoding);
}
