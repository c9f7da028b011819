// Structured output through the real provider packages.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { anthropic, ask, cases, facesOf, loopback, openAI } from "./loopback-agents.ts";

const output = z.object({ city: z.string(), degrees: z.number() });
const answer = ['{"city":"Rome",', '"degrees":21}'];

describe.each(cases)("$name, $face", (provider) => {
  test("an answer that fits the schema is the validated output", async () => {
    await using at = await loopback(provider, [{ text: answer }], { output });
    const { result } = await provider.play(at.agent, "Weather?");
    expect(result.output).toEqual({ city: "Rome", degrees: 21 });
    expect(result.output?.degrees).toBe(21);
  });

  test("tools can be called before the structured answer", async () => {
    await using at = await loopback(provider, [{ calls: [ask("c1", "Rome")] }, { text: answer }], { output });
    const { result } = await provider.play(at.agent, "Weather?");
    expect(result.output).toEqual({ city: "Rome", degrees: 21 });
    expect(result.steps).toHaveLength(2);
  });

  test("an answer that does not fit is sent back with the reason", async () => {
    await using at = await loopback(
      provider,
      [{ text: ["21 degrees"] }, { text: ['{"city":"Rome"}'] }, { text: answer }],
      {
        output,
      },
    );
    const { result } = await provider.play(at.agent, "Weather?");
    expect(result.output).toEqual({ city: "Rome", degrees: 21 });
    expect(JSON.stringify(at.server.requests[1]?.body)).toContain("not valid JSON");
    expect(JSON.stringify(at.server.requests[2]?.body)).toContain("degrees");
  });

  test("the schema is sent to the model", async () => {
    await using at = await loopback(provider, [{ text: answer }], { output });
    await provider.play(at.agent, "Weather?");
    expect(JSON.stringify(at.server.requests[0]?.body)).toContain("degrees");
  });
});

describe.each(facesOf(openAI))("OpenAI-compatible with structured outputs, $face", (provider) => {
  test("the schema is sent as the response format", async () => {
    const model = (baseURL: string) =>
      createOpenAICompatible({ name: "strict", apiKey: "key", baseURL, supportsStructuredOutputs: true }).chatModel(
        "m",
      );
    await using at = await loopback({ ...provider, model }, [{ text: answer }], { output });
    const { result } = await provider.play(at.agent, "Weather?");
    expect(result.output).toEqual({ city: "Rome", degrees: 21 });
    expect(at.server.requests[0]?.body.response_format).toMatchObject({
      type: "json_schema",
      json_schema: { strict: true, schema: { required: ["city", "degrees"] } },
    });
  });
});

describe.each(facesOf(anthropic))("Anthropic without structured outputs, $face", (provider) => {
  test("an answer given through the provider's own JSON tool is the output", async () => {
    const model = (baseURL: string) => createAnthropic({ apiKey: "key", baseURL })("claude-3-haiku-20240307");
    const calls = [{ id: "c2", name: "json", input: { city: "Rome", degrees: 21 } }];
    await using at = await loopback({ ...provider, model }, [{ calls: [ask("c1", "Rome")] }, { calls }], {
      output,
      modelSettings: {},
    });
    const { result } = await provider.play(at.agent, "Weather?");
    expect(result.output).toEqual({ city: "Rome", degrees: 21 });
    expect(result.outcome.reason).toBe("answered");
  });
});
