// Prompt caches through the real provider packages: where the marks are, and that the beginning up to a mark stays the same.
import { createAmazonBedrock } from "@ai-sdk/amazon-bedrock";
import { describe, expect, test } from "vitest";
import { InMemorySession, SlidingWindowMemory, user } from "../../src/index.ts";
import { allProviders } from "./all-providers.ts";
import { ask, facesOf, loopback, type Provider } from "./loopback-agents.ts";

const withoutReasoning = ({ settings: _, ...provider }: Provider): Provider => provider;
const providers = new Map(allProviders.map((provider) => [provider.name, withoutReasoning(provider)]));
const marking = ["Anthropic", "Amazon Bedrock", "OpenRouter"];
const script = [{ calls: [ask("c1", "Rome")] }, { text: ["Sunny."] }, { text: ["You are welcome."] }];
const isMark = /"cache_control":\{"type":"ephemeral"\}|\{"cachePoint":\{"type":"default"\}\}/g;

type Body = Record<string, unknown> & { readonly messages: readonly unknown[] };

const marksIn = (value: unknown): number => JSON.stringify(value ?? null).match(isMark)?.length ?? 0;
const withoutMarks = (value: unknown): string =>
  JSON.stringify(value ?? null)
    .replaceAll(/,?"cache_control":\{"type":"ephemeral"\}/g, "")
    .replaceAll(/,?\{"cachePoint":\{"type":"default"\}\}/g, "");

describe.each(marking.flatMap((name) => facesOf(providers.get(name) as Provider)))("$name, $face", (provider) => {
  test("cache auto marks the end of the instructions, and the end of the last turn", async () => {
    await using at = await loopback(provider, script, { instructions: "Be brief.", cache: "auto" });
    const session = new InMemorySession();
    for (const text of ["Weather?", "Thanks!"]) await provider.play(at.agent, text, { session });
    const [first, second, third] = at.server.requests.map(({ body }) => body as Body);
    // OpenRouter has the instructions among its messages.
    const turnMarks = (body: Body | undefined) => marksIn(body?.messages.slice(provider.name === "OpenRouter" ? 1 : 0));
    expect([first, second, third].map(marksIn)).toEqual([1, 1, 2]);
    expect([first, second, third].map(turnMarks)).toEqual([0, 0, 1]);
    // The answer of the first turn, and not the new question.
    expect(marksIn(third?.messages.at(-1))).toBe(0);
    expect(marksIn(third?.messages.at(-2))).toBe(1);
    const before = second?.messages ?? [];
    expect(withoutMarks(third?.messages.slice(0, before.length))).toBe(withoutMarks(before));
  });

  test("without cache nothing is marked", async () => {
    await using at = await loopback(provider, script, { instructions: "Be brief." });
    const session = new InMemorySession();
    for (const text of ["Weather?", "Thanks!"]) await provider.play(at.agent, text, { session });
    expect(at.server.requests.map(({ body }) => marksIn(body))).toEqual([0, 0, 0]);
  });

  test("with a memory only the end of the instructions is marked", async () => {
    const options = { instructions: "Be brief.", cache: "auto", memory: new SlidingWindowMemory() } as const;
    await using at = await loopback(provider, script, options);
    const session = new InMemorySession();
    for (const text of ["Weather?", "Thanks!"]) await provider.play(at.agent, text, { session });
    expect(at.server.requests.map(({ body }) => marksIn(body))).toEqual([1, 1, 1]);
  });

  test("the provider options of a message reach the provider", async () => {
    await using at = await loopback(provider, [{ text: ["Read."] }]);
    const providerOptions = {
      anthropic: { cacheControl: { type: "ephemeral" } },
      bedrock: { cachePoint: { type: "default" } },
    };
    await provider.play(at.agent, user("A long document.", { metadata: { providerOptions } }));
    const body = at.server.requests[0]?.body as Body | undefined;
    expect(marksIn(body?.messages)).toBe(1);
  });
});

test("without instructions the last tool is marked for Anthropic", async () => {
  const provider = providers.get("Anthropic") as Provider;
  await using at = await loopback(provider, [{ text: ["Hello."] }], { cache: "auto" });
  await at.agent.run("Hi");
  const { tools } = at.server.requests[0]!.body;
  expect(marksIn((tools as readonly unknown[]).at(-1))).toBe(1);
});

test("a Bedrock model that refuses cache points gets none", async () => {
  const bedrock = providers.get("Amazon Bedrock") as Provider;
  const model = (baseURL: string) =>
    createAmazonBedrock({ apiKey: "key", region: "us-east-1", baseURL })("meta.llama3-3-70b-instruct-v1:0");
  const options = { cache: "auto", instructions: "Be brief." } as const;
  await using at = await loopback({ ...bedrock, model }, [{ text: ["Hello."] }], options);
  await at.agent.run("Hi");
  expect(marksIn(at.server.requests[0]?.body)).toBe(0);
});

const others = allProviders.filter(({ name }) => !marking.includes(name));
test.for(others)("$name needs no marks: cache auto sends the same as no cache", async (tested) => {
  const provider = withoutReasoning(tested);
  const bodies: unknown[] = [];
  for (const cache of ["auto", undefined] as const) {
    await using at = await loopback(provider, script, { instructions: "Be brief.", cache });
    const session = new InMemorySession();
    for (const text of ["Weather?", "Thanks!"]) await at.agent.run(text, { session });
    // A package may make up its own ids.
    bodies.push(at.server.requests.map(({ body }) => JSON.stringify(body).replaceAll(/[0-9a-f-]{36}/g, "id")));
  }
  expect(bodies[0]).toEqual(bodies[1]);
});
