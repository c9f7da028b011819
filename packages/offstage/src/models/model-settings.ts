// The settings of a model call that an agent's options may choose: temperature and the like.
import { isObject, type JsonValue } from "../base/json.ts";
import { checkOptions, numberFrom, type OptionRule, oneOf, someText, wholeFrom } from "../base/options.ts";

/** Data of a provider, by its name. */
export type ProviderData = Record<string, Record<string, JsonValue | undefined>>;

export type ToolChoice =
  | { type: "auto" }
  | { type: "none" }
  | { type: "required" }
  | { type: "tool"; toolName: string };

export type ReasoningEffort = "provider-default" | "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

/** Settings for every model call of an agent. A model ignores those it does not know. */
export interface ModelSettings {
  readonly maxOutputTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
  readonly presencePenalty?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
  readonly stopSequences?: string[] | undefined;
  readonly seed?: number | undefined;
  readonly reasoning?: ReasoningEffort | undefined;
  /** Whether the model must call a tool. "required" and a named tool hold for the first step of a run: see `toolChoiceOn`. */
  readonly toolChoice?: ToolChoice | "auto" | "none" | "required" | undefined;
  /** The steps for which "required" or a named tool holds. Default "first-step": after that the model may answer. */
  readonly toolChoiceOn?: "first-step" | "every-step" | undefined;
  readonly headers?: Record<string, string | undefined> | undefined;
  /** Options of one provider, by its name. */
  readonly providerOptions?: ProviderData | undefined;
}

/**
 * The settings as a model gets them: those that are undefined are left out. The type has no "max", since some packages of the
 * fourth generation do not list it yet.
 */
export type CallSettings = {
  -readonly [Name in keyof Omit<ModelSettings, "toolChoice" | "toolChoiceOn">]: Exclude<
    ModelSettings[Name],
    undefined | "max"
  >;
} & { toolChoice?: ToolChoice };

const choices: readonly unknown[] = ["auto", "none", "required"];
const number: OptionRule = { isFit: Number.isFinite, words: "a number" };
const fields: OptionRule = { isFit: isObject, words: "an object" };

const rules: Readonly<Record<keyof ModelSettings, OptionRule>> = {
  maxOutputTokens: wholeFrom(1),
  temperature: numberFrom(0),
  topP: number,
  topK: number,
  presencePenalty: number,
  frequencyPenalty: number,
  stopSequences: {
    isFit: (value) => Array.isArray(value) && value.every((each) => typeof each === "string"),
    words: "a list of texts",
  },
  seed: number,
  reasoning: someText,
  toolChoice: {
    isFit: (value) => choices.includes(value) || (isObject(value) && typeof value.type === "string"),
    words: '"auto", "none", "required" or { type: "tool", toolName }',
  },
  toolChoiceOn: oneOf("first-step", "every-step"),
  headers: fields,
  providerOptions: fields,
};

const hints = { maxTokens: '"maxOutputTokens"', stop: '"stopSequences"', reasoningEffort: '"reasoning"' };

/** Throws `invalid-argument` if a setting is unknown or does not fit. */
export function checkModelSettings(settings: ModelSettings): void {
  checkOptions(settings, rules, "modelSettings", hints);
}

/** The settings of a call; later ones override earlier ones, undefined ones do not. */
export function callSettings(...settings: readonly (ModelSettings | undefined)[]): CallSettings {
  const given = settings.flatMap((each) => Object.entries(each ?? {})).filter(([, value]) => value !== undefined);
  const { toolChoiceOn: _, toolChoice, ...rest }: ModelSettings = Object.fromEntries(given);
  const choice = typeof toolChoice === "string" ? { type: toolChoice } : toolChoice;
  return { ...(rest as CallSettings), ...(choice !== undefined && { toolChoice: choice }) };
}

/** True for a choice that forces a call, so that a model under it never answers. */
export function forcesCall(choice: ToolChoice | undefined): boolean {
  return choice?.type === "required" || choice?.type === "tool";
}
