// The real provider packages with the fake servers, run and streamed: every scenario is played in all four combinations.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { expect } from "vitest";
import {
  Agent,
  type AgentEvent,
  type AgentOptions,
  type AnyModel,
  type ModelSettings,
  type OffstageError,
  type RunInput,
  type RunOptions,
  type RunResult,
  tool,
  user,
} from "../../src/index.ts";
import { fakeAnthropic } from "./fake-anthropic.ts";
import { fakeOpenAI } from "./fake-openai.ts";
import type { FakeProvider, FakeTurn } from "./fake-provider.ts";

/** A provider package and its fake server. */
export interface Provider {
  readonly name: string;
  serve(script: readonly FakeTurn[]): Promise<FakeProvider>;
  model(url: string): AnyModel;
  /** The settings that turn on reasoning. */
  readonly settings?: ModelSettings;
}

export const openAI: Provider = {
  name: "OpenAI-compatible",
  serve: fakeOpenAI,
  model: (baseURL) =>
    createOpenAICompatible({ name: "loopback", apiKey: "key", baseURL, includeUsage: true }).chatModel(
      "loopback-model",
    ),
};

export const anthropic: Provider = {
  name: "Anthropic",
  serve: fakeAnthropic,
  model: (baseURL) => createAnthropic({ apiKey: "key", baseURL })("claude-sonnet-4-5"),
  settings: { providerOptions: { anthropic: { thinking: { type: "enabled", budgetTokens: 1024 } } } },
};

/** The result of a run and, if it was streamed, its events. */
export interface Played<Output = string> {
  readonly result: RunResult<Output>;
  readonly events: readonly AgentEvent[];
}

/** One of the two ways to run an agent. */
export interface Face {
  readonly face: "run" | "stream";
  play<Output>(agent: Agent<Output>, input: RunInput, options?: RunOptions): Promise<Played<Output>>;
}

/** Collects everything that an async iterable yields. */
export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const faces: readonly Face[] = [
  { face: "run", play: async (agent, input, options) => ({ result: await agent.run(input, options), events: [] }) },
  {
    face: "stream",
    async play(agent, input, options) {
      const stream = agent.stream(input, options);
      const events = await collect(stream);
      return { result: await stream.result, events };
    },
  },
];

export interface Case extends Face, Provider {}

/** Returns both ways to run an agent on one provider. */
export function facesOf(provider: Provider): Case[] {
  return faces.map((face) => ({ ...face, ...provider }));
}

/** Both providers, run and streamed. */
export const cases: readonly Case[] = [...facesOf(openAI), ...facesOf(anthropic)];

export interface Loopback<Output> extends AsyncDisposable {
  readonly agent: Agent<Output>;
  readonly server: FakeProvider;
}

/** An agent on a server that plays the script. Its disposal checks that nothing was refused and everything was played. */
export async function loopback<Output = string>(
  provider: Provider,
  script: readonly FakeTurn[],
  options: Partial<AgentOptions<Output>> = {},
): Promise<Loopback<Output>> {
  const server = await provider.serve(script);
  const agent = new Agent<Output>({
    model: provider.model(server.url),
    tools: [weather],
    retry: { initialDelayMs: 1 },
    ...(provider.settings === undefined ? undefined : { modelSettings: provider.settings }),
    ...options,
  });
  return {
    agent,
    server,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      expect(server.refusals).toEqual([]);
      expect(server.unplayed).toBe(0);
    },
  };
}

export const weather = tool({
  name: "weather",
  description: "The weather in a city.",
  input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  execute: ({ city }) => `${city}: sunny`,
});

/** A call of the weather tool. */
export function ask(id: string, city: string): { id: string; name: string; input: { city: string } } {
  return { id, name: "weather", input: { city } };
}

/** Returns the error of a run that must fail. */
export async function failureOf(play: Promise<unknown>): Promise<OffstageError> {
  const error = await play.then(
    () => expect.fail("the run did not fail"),
    (error: unknown) => error as OffstageError,
  );
  expect(error.code).toBe("model-failed");
  return error;
}

/** Continues the conversation of a run with one more message, which the server must accept. */
export async function continueAfter({ play }: Face, agent: Agent, after: unknown): Promise<string> {
  const { state } = after as RunResult;
  const { result } = await play(agent, [...state.messagesForInference(), user("And now?")]);
  return result.text;
}
