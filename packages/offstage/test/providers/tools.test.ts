// Tools through the real provider packages: every request is valid, and the answers are right.
import { describe, expect, test } from "vitest";
import { tool } from "../../src/index.ts";
import { ask, cases, loopback } from "./loopback-agents.ts";

describe.each(cases)("$name, $face", (provider) => {
  test("a tool call gets its result, and the model answers", async () => {
    await using at = await loopback(provider, [{ calls: [ask("c1", "Rome")] }, { text: ["It is ", "sunny."] }]);
    const { result } = await provider.play(at.agent, "Weather in Rome?");
    expect(result.text).toBe("It is sunny.");
    expect(result.outcome.reason).toBe("answered");
    expect(result.steps[0]?.toolResults).toMatchObject([{ toolCallId: "c1", content: "Rome: sunny", isError: false }]);
    expect(JSON.stringify(at.server.requests[1]?.body)).toContain("Rome: sunny");
  });

  test("a call runs even if the finish reason is stop", async () => {
    const calls = [ask("c1", "Rome")];
    await using at = await loopback(provider, [{ calls, finish: "stop" }, { text: ["Sunny."] }]);
    expect((await provider.play(at.agent, "Weather?")).result.text).toBe("Sunny.");
  });

  test("parallel calls all get their results, in call order, before the next model call", async () => {
    const calls = [ask("c1", "Rome"), ask("c2", "Oslo"), ask("c3", "Lima")];
    await using at = await loopback(provider, [{ calls }, { text: ["Sunny everywhere."] }]);
    const { result } = await provider.play(at.agent, "Weather in Rome, Oslo and Lima?");
    expect(result.steps[0]?.toolResults.map(({ content }) => content)).toEqual([
      "Rome: sunny",
      "Oslo: sunny",
      "Lima: sunny",
    ]);
    expect(result.text).toBe("Sunny everywhere.");
  });

  test("over several steps every call is followed by its result, in order", async () => {
    const cities = ["Rome", "Oslo", "Lima", "Cairo"];
    const script = cities.map((city, index) => ({ text: [`Looking at ${city}.`], calls: [ask(`c${index}`, city)] }));
    await using at = await loopback(provider, [...script, { text: ["Done."] }], { instructions: "Be brief." });
    const { result } = await provider.play(at.agent, "Weather in four cities, one by one?");
    expect(result.steps).toHaveLength(5);
    const last = JSON.stringify(at.server.requests[4]?.body.messages);
    const places = cities.flatMap((city) => [last.indexOf(`Looking at ${city}.`), last.indexOf(`${city}: sunny`)]);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places).not.toContain(-1);
  });

  test("text beside calls is sent back with them", async () => {
    await using at = await loopback(provider, [
      { text: ["Let me look."], calls: [ask("c1", "Rome"), ask("c2", "Oslo")] },
      { text: ["Sunny."] },
    ]);
    const { result } = await provider.play(at.agent, "Weather?");
    expect(result.steps[0]?.text).toBe("Let me look.");
    expect(JSON.stringify(at.server.requests[1]?.body)).toContain("Let me look.");
  });

  test("blank text beside a call is not sent back", async () => {
    await using at = await loopback(provider, [{ text: ["\n\n"], calls: [ask("c1", "Rome")] }, { text: ["Sunny."] }]);
    const { result } = await provider.play(at.agent, "Weather?");
    expect(result.text).toBe("Sunny.");
  });

  test("the tools, the instructions and the settings reach the wire", async () => {
    await using at = await loopback(provider, [{ text: ["Hi."] }], {
      instructions: "Be brief.",
      modelSettings: { temperature: 0.5, maxOutputTokens: 77, toolChoice: { type: "auto" } },
    });
    await provider.play(at.agent, "Hello");
    const { body } = at.server.requests[0]!;
    expect(body).toMatchObject({ temperature: 0.5, max_tokens: 77 });
    expect(JSON.stringify(body)).toContain("Be brief.");
    expect(JSON.stringify(body.tools)).toContain("The weather in a city.");
  });

  test("usage adds up over the steps, with cached, written and reasoning tokens", async () => {
    await using at = await loopback(provider, [
      { calls: [ask("c1", "Rome")], usage: { input: 100, cached: 60, written: 25, output: 20, reasoning: 8 } },
      { text: ["Sunny."], usage: { input: 150, cached: 90, written: 5, output: 10, reasoning: 2 } },
    ]);
    const { result } = await provider.play(at.agent, "Weather?");
    expect(result.usage).toEqual({
      inputTokens: 250,
      outputTokens: 30,
      totalTokens: 280,
      cachedInputTokens: 150,
      // Only Anthropic reports them.
      ...(provider.name === "Anthropic" && { cacheWriteTokens: 30 }),
      reasoningTokens: 10,
    });
  });

  test("a failing tool, an unknown tool and an invalid input become results that the model can read", async () => {
    const fails = tool({ name: "fails", execute: () => Promise.reject(new Error("no network")) });
    await using at = await loopback(
      provider,
      [
        {
          calls: [
            { id: "c1", name: "fails" },
            { id: "c2", name: "nothing_like_it" },
            { id: "c3", name: "weather", input: { town: "Rome" } },
          ],
        },
        { text: ["I could not."] },
      ],
      { tools: [fails] },
    );
    const { result } = await provider.play(at.agent, "Try.");
    expect(result.steps[0]?.toolResults.map(({ isError }) => isError)).toEqual([true, true, true]);
    expect(JSON.stringify(at.server.requests[1]?.body)).toMatch(/no network.*There is no tool/);
    expect(result.text).toBe("I could not.");
  });

  test("an invalid tool name is sent back as a valid one", async () => {
    const calls = [{ id: "c1", name: "we ather!" }];
    await using at = await loopback(provider, [{ calls }, { text: ["Sorry."] }]);
    expect((await provider.play(at.agent, "Weather?")).result.text).toBe("Sorry.");
  });

  test("ids that the server repeats or leaves empty become unique", async () => {
    await using at = await loopback(provider, [
      { calls: [ask("c1", "Rome"), ask("c1", "Oslo"), ask("", "Lima")] },
      { calls: [ask("c1", "Cairo")] },
      { text: ["Sunny everywhere."] },
    ]);
    const { result } = await provider.play(at.agent, "Weather in four cities?");
    const results = result.steps.flatMap(({ toolResults }) => toolResults);
    expect(results.map(({ content }) => content)).toEqual(["Rome", "Oslo", "Lima", "Cairo"].map((c) => `${c}: sunny`));
    expect(new Set(results.map(({ toolCallId }) => toolCallId)).size).toBe(4);
  });
});
