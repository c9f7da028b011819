// The model port and the types of the real packages: supported models fit without a cast, and others are refused.
import { createAmazonBedrock } from "@ai-sdk/amazon-bedrock";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogle } from "@ai-sdk/google";
import { createMistral } from "@ai-sdk/mistral";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { createOpenRouter } from "@openrouter/ai-sdk-provider";
import { createOllama } from "ai-sdk-ollama";
import { createOpenAICompatible as createV2 } from "ai-sdk-openai-compatible-v2";
import { createOpenAICompatible as createV3 } from "ai-sdk-openai-compatible-v3";
import { createOllama as createOllamaV2 } from "ollama-ai-provider-v2";
import { expectTypeOf } from "vitest";
import { Agent, type AnyModel, type Model } from "../../src/index.ts";
import { adaptModel } from "../../src/models/adapt-model.ts";
import type { ModelCallOptions } from "../../src/models/model.ts";
import { type ScriptedModel, scriptedModel } from "../../src/testing/index.ts";

const settings = { name: "loopback", baseURL: "http://127.0.0.1" };
const claude = createAnthropic()("claude-sonnet-4-5");
const chat = createOpenAICompatible(settings).chatModel("m");
const v2 = createV2(settings).chatModel("m");
const v3 = createV3(settings).chatModel("m");

export const models: readonly Model[] = [claude, chat, scriptedModel([])];
export const packages: readonly AnyModel[] = [
  createAmazonBedrock()("m"),
  createGoogle()("m"),
  createMistral()("m"),
  createOpenAI().chat("m"),
  createOpenAI().responses("m"),
  createOpenRouter()("m"),
  createOllama()("m"),
  createOllamaV2()("m"),
];
export const anyModels: readonly AnyModel[] = [claude, chat, v2, v3, adaptModel(v2), adaptModel(v3)];
export const agents: readonly Agent[] = [claude, chat, v2, v3].map((model) => new Agent({ model }));

expectTypeOf<LanguageModelV4>().toExtend<Model>();
expectTypeOf<LanguageModelV4>().toExtend<AnyModel>();
expectTypeOf<ScriptedModel>().toExtend<Model>();
expectTypeOf<ModelCallOptions>().toExtend<LanguageModelV4CallOptions>();

// @ts-expect-error a model of an older generation is not a Model until it is adapted
export const old: Model = v3;
// @ts-expect-error neither is an object that happens to have a name
export const random: AnyModel = { modelId: "m", provider: "p" };
// @ts-expect-error nor is one of a future generation
export const future: AnyModel = { ...chat, specificationVersion: "v5" as const };
// @ts-expect-error nor is the name of a model
export const name: AnyModel = "openai/gpt-5";
