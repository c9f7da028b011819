import { describe, expect, test } from "vitest";
import { callSettings, checkModelSettings, type ModelSettings } from "./model-settings.ts";

describe("settings are refused", () => {
  const refusals: readonly [unknown, string][] = [
    [{ maxTokens: 5 }, 'Unknown modelSettings option "maxTokens". Use "maxOutputTokens" instead.'],
    [{ temprature: 0 }, 'Unknown modelSettings option "temprature". Valid options: maxOutputTokens, temperature, '],
    [{ temperature: "0" }, '"temperature" must be a number of at least 0; found "0".'],
    [{ maxOutputTokens: 0 }, '"maxOutputTokens" must be a whole number of at least 1; found 0.'],
    [{ stopSequences: "end" }, '"stopSequences" must be a list of texts; found "end".'],
    [{ toolChoice: "always" }, '"toolChoice" must be "auto", "none", "required" or { type: "tool", toolName }; found'],
    [{ toolChoiceOn: "second-step" }, '"toolChoiceOn" must be'],
    [{ topP: Number.NaN }, '"topP" must be a number; found NaN.'],
    [null, "The modelSettings options must be an object; found null."],
  ];

  test.for(refusals)("%j", ([settings, sentence]) => {
    const refusal = expect.objectContaining({ code: "invalid-argument", message: expect.stringContaining(sentence) });
    expect(() => checkModelSettings(settings as ModelSettings)).toThrow(refusal);
  });
});

test("all settings are accepted, and undefined counts as left out", () => {
  const settings: ModelSettings = {
    ...{ maxOutputTokens: 5, temperature: 0, topP: 0.5, topK: 3, presencePenalty: -1, frequencyPenalty: 1, seed: 7 },
    ...{ stopSequences: ["end"], reasoning: "low", toolChoice: { type: "tool", toolName: "search" } },
    ...{ headers: { "x-team": undefined }, providerOptions: { openai: { store: false } } },
  };
  expect(() => checkModelSettings({ ...settings, seed: undefined })).not.toThrow();
});

test("later settings override earlier ones, and undefined ones do not", () => {
  const settings = callSettings({ temperature: 0, seed: 1 }, undefined, { temperature: undefined, seed: 2 });
  expect(settings).toEqual({ temperature: 0, seed: 2 });
});
