// The rules for options that several memories and strategies share.
import { type OptionRule, objectWith, someFunction } from "../base/options.ts";

export const counterRule: OptionRule = objectWith("a counter { count(text) }", "count");
export const embedderRule: OptionRule = objectWith("an embedder { embed(texts) }", "embed");
export const listenerRule: OptionRule = someFunction;
const model = objectWith("a model", "doGenerate");
export const summarizeRule: OptionRule = {
  isFit: (value) => someFunction.isFit(value) || model.isFit(value),
  words: "a function or a model",
};
export const shareRule: OptionRule = {
  isFit: (value) => typeof value === "number" && value >= 0 && value <= 1,
  words: "a number from 0 to 1",
};
