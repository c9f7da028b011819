// Streaming through the real provider packages: text, reasoning and tool input arrive piece by piece.
import { describe, expect, test } from "vitest";
import type { AgentEvent } from "../../src/index.ts";
import { anthropic, ask, collect, facesOf, loopback, openAI } from "./loopback-agents.ts";

const streamed = [openAI, anthropic].map((provider) => facesOf(provider)[1]!);

function deltas(events: readonly AgentEvent[], type: "text-delta" | "reasoning-delta" | "tool-input-delta"): string[] {
  return events.flatMap((event) => (event.type === type ? [event.delta] : []));
}

describe.each(streamed)("$name", (provider) => {
  test("text arrives in the pieces that the server sent, and the answer is all of them joined", async () => {
    const text = ["It ", "is ", "sunny ", "in Rome."];
    await using at = await loopback(provider, [{ text }]);
    const { result, events } = await provider.play(at.agent, "Weather?");
    expect(deltas(events, "text-delta")).toEqual(text);
    expect(result.text).toBe(text.join(""));
  });

  test("stream.text yields only the text", async () => {
    await using at = await loopback(provider, [{ calls: [ask("c1", "Rome")] }, { text: ["Sun", "ny."] }]);
    expect(await collect(at.agent.stream("Weather?").text)).toEqual(["Sun", "ny."]);
  });

  test("the input of parallel calls arrives in pieces that name their call and tool", async () => {
    await using at = await loopback(provider, [
      { calls: [ask("c1", "Rome"), ask("c2", "Oslo")] },
      { text: ["Sunny."] },
    ]);
    const { events } = await provider.play(at.agent, "Weather?");
    const inputs = events.filter((event) => event.type === "tool-input-delta");
    expect(inputs.length).toBeGreaterThan(2);
    expect(new Set(inputs.map(({ toolName }) => toolName))).toEqual(new Set(["weather"]));
    const inputOf = (id: string) => inputs.flatMap((each) => (each.toolCallId === id ? [each.delta] : [])).join("");
    expect([inputOf("c1"), inputOf("c2")]).toEqual(['{"city":"Rome"}', '{"city":"Oslo"}']);
  });

  test("reasoning arrives in pieces and is not part of the text", async () => {
    const thoughts = [{ text: "Rome is in Italy.", signature: "SIG" }];
    await using at = await loopback(provider, [{ thoughts, text: ["Sunny."] }]);
    const { result, events } = await provider.play(at.agent, "Weather?");
    expect(deltas(events, "reasoning-delta").join("")).toBe("Rome is in Italy.");
    expect(result.text).toBe("Sunny.");
    expect(result.steps[0]?.reasoning).toBe("Rome is in Italy.");
  });

  test("the model id of a step is the one that the server reports", async () => {
    await using at = await loopback(provider, [{ text: ["Hi."] }]);
    const { result } = await provider.play(at.agent, "Hello");
    expect(result.steps[0]?.modelId).toMatch(/loopback/);
  });

  test("events arrive in the order of the run, deltas within their step", async () => {
    await using at = await loopback(provider, [{ calls: [ask("c1", "Rome")] }, { text: ["Sunny."] }]);
    const { events } = await provider.play(at.agent, "Weather?");
    const kinds = events.map(({ type }) => type).filter((type, index, all) => type !== all[index - 1]);
    expect(kinds.filter((type) => type !== "message-added")).toEqual([
      "run-start",
      "step-start",
      "model-start",
      "tool-input-delta",
      "model-end",
      "tool-start",
      "tool-end",
      "step-end",
      "step-start",
      "model-start",
      "text-delta",
      "model-end",
      "step-end",
      "run-end",
    ]);
  });
});
