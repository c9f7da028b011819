// Every provider package that is tested, with its fake server.
import { createAmazonBedrock } from "@ai-sdk/amazon-bedrock";
import { createGoogle } from "@ai-sdk/google";
import { createMistral } from "@ai-sdk/mistral";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenRouter } from "@openrouter/ai-sdk-provider";
import { createOllama } from "ai-sdk-ollama";
import { createOllama as createOllamaV2 } from "ollama-ai-provider-v2";
import { fakeBedrock } from "./fake-bedrock.ts";
import { fakeGoogle } from "./fake-google.ts";
import { fakeMistral } from "./fake-mistral.ts";
import { fakeOllama } from "./fake-ollama.ts";
import { fakeOpenAI, fakeOpenRouter } from "./fake-openai.ts";
import { fakeResponses } from "./fake-responses.ts";
import { anthropic, openAI as compatible, type Provider } from "./loopback-agents.ts";

/** A provider with the name of its package. */
export interface TestedProvider extends Provider {
  readonly package: string;
}

const openAIChat: TestedProvider = {
  name: "OpenAI, chat",
  package: "@ai-sdk/openai",
  serve: fakeOpenAI,
  model: (baseURL) => createOpenAI({ apiKey: "key", baseURL }).chat("gpt-4.1"),
};

const openAIResponses: TestedProvider = {
  name: "OpenAI, responses",
  package: "@ai-sdk/openai",
  serve: fakeResponses,
  model: (baseURL) => createOpenAI({ apiKey: "key", baseURL }).responses("gpt-5"),
};

const google: TestedProvider = {
  name: "Google",
  package: "@ai-sdk/google",
  serve: fakeGoogle,
  model: (baseURL) => createGoogle({ apiKey: "key", baseURL })("gemini-2.5-flash"),
};

const mistral: TestedProvider = {
  name: "Mistral",
  package: "@ai-sdk/mistral",
  serve: fakeMistral,
  model: (baseURL) => createMistral({ apiKey: "key", baseURL })("mistral-large-latest"),
};

const bedrock: TestedProvider = {
  name: "Amazon Bedrock",
  package: "@ai-sdk/amazon-bedrock",
  serve: fakeBedrock,
  model: (baseURL) => createAmazonBedrock({ apiKey: "key", region: "us-east-1", baseURL })("amazon.nova-pro-v1:0"),
};

const openRouter: TestedProvider = {
  name: "OpenRouter",
  package: "@openrouter/ai-sdk-provider",
  serve: fakeOpenRouter,
  model: (baseURL) => createOpenRouter({ apiKey: "key", baseURL }).chat("some/model"),
};

const ollamaV2: TestedProvider = {
  name: "Ollama (ollama-ai-provider-v2)",
  package: "ollama-ai-provider-v2",
  serve: fakeOllama,
  model: (baseURL) => createOllamaV2({ baseURL })("llama"),
};

const ollama: TestedProvider = {
  name: "Ollama (ai-sdk-ollama)",
  package: "ai-sdk-ollama",
  serve: fakeOllama,
  model: (baseURL) => createOllama({ baseURL })("llama"),
};

export const allProviders: readonly TestedProvider[] = [
  openAIChat,
  openAIResponses,
  { ...compatible, package: "@ai-sdk/openai-compatible" },
  { ...anthropic, package: "@ai-sdk/anthropic" },
  google,
  mistral,
  bedrock,
  openRouter,
  ollamaV2,
  ollama,
];
