// The older generations of the provider interface, V2 and V3, drive an agent through the adapter.
import { createOpenAICompatible as createV2 } from "ai-sdk-openai-compatible-v2";
import { createOpenAICompatible as createV3 } from "ai-sdk-openai-compatible-v3";
import { describe, expect, test } from "vitest";
import { adaptModel } from "../../src/models/adapt-model.ts";
import { ask, continueAfter, facesOf, failureOf, loopback, openAI } from "./loopback-agents.ts";

const generations = [
  { ...openAI, name: "V2", model: (baseURL: string) => createV2({ ...settings, baseURL }).chatModel("m") },
  { ...openAI, name: "V3", model: (baseURL: string) => createV3({ ...settings, baseURL }).chatModel("m") },
];
const settings = { name: "old", apiKey: "key", includeUsage: true };

describe.each(generations.flatMap(facesOf))("$name, $face", (provider) => {
  test("the model declares its generation, and is adapted to the current one", () => {
    const model = provider.model("http://127.0.0.1:1");
    expect(model.specificationVersion).toBe(provider.name.toLowerCase());
    expect(adaptModel(model)).toMatchObject({ specificationVersion: "v4", provider: "old.chat", modelId: "m" });
  });

  test("tools, text beside calls and usage work as in the current generation", async () => {
    const usage = { input: 100, cached: 60, output: 20, reasoning: 8 };
    await using at = await loopback(provider, [
      { text: ["Let me look."], calls: [ask("c1", "Rome"), ask("c2", "Oslo")], usage },
      { text: ["Sun", "ny."], usage },
    ]);
    const { result, events } = await provider.play(at.agent, "Weather?");
    expect(result.text).toBe("Sunny.");
    expect(result.steps.map(({ finishReason }) => finishReason)).toEqual(["tool-calls", "stop"]);
    expect(result.steps[0]?.toolResults.map(({ content }) => content)).toEqual(["Rome: sunny", "Oslo: sunny"]);
    expect(result.usage).toMatchObject({
      inputTokens: 200,
      outputTokens: 40,
      cachedInputTokens: 120,
      reasoningTokens: 16,
    });
    if (provider.face === "stream") expect(events.filter(({ type }) => type === "text-delta")).toHaveLength(3);
  });

  test("reasoning is sent back during the run", async () => {
    const thoughts = [{ text: "Rome is in Italy.", signature: "" }];
    await using at = await loopback(provider, [{ thoughts, calls: [ask("c1", "Rome")] }, { text: ["Sunny."] }]);
    await provider.play(at.agent, "Weather?");
    const sent = at.server.requests[1]!.body.messages as { reasoning_content?: string }[];
    expect(sent[1]?.reasoning_content).toBe("Rome is in Italy.");
  });

  test("a failed call is sent back as its result", async () => {
    await using at = await loopback(provider, [{ calls: [{ id: "c1", name: "gone" }] }, { text: ["Sorry."] }]);
    expect((await provider.play(at.agent, "Weather?")).result.text).toBe("Sorry.");
  });

  test("a server error is retried, a refused request is not, and the conversation can continue", async () => {
    await using at = await loopback(provider, [{ status: 500 }, { status: 400 }, { text: ["Back."] }]);
    const error = await failureOf(provider.play(at.agent, "Weather?"));
    expect(error.cause).toMatchObject({ statusCode: 400 });
    expect(await continueAfter(provider, at.agent, error.result)).toBe("Back.");
  });

  test("an abort in the middle of a reply closes the connection", async () => {
    await using at = await loopback(provider, [{ begin: { text: ["It ", "is"] }, events: 2, ending: "hang" }]);
    const controller = new AbortController();
    const played = provider.play(at.agent, "Weather?", { signal: controller.signal });
    void at.server.played.then(() => setTimeout(() => controller.abort(new Error("enough")), 30));
    await expect(played).rejects.toThrow("enough");
    await at.server.hungUp;
  });
});
