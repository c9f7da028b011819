// Reasoning of OpenAI-compatible servers and the metadata of their calls are sent back during the run.
import { describe, expect, test } from "vitest";
import type { Json } from "./fake-provider.ts";
import { ask, facesOf, loopback, openAI } from "./loopback-agents.ts";

describe.each(facesOf(openAI))("$face", (provider) => {
  test("reasoning_content is sent back with its call", async () => {
    const thoughts = [{ text: "I need the weather.", signature: "" }];
    await using at = await loopback(provider, [
      { thoughts, text: ["Let me look."], calls: [ask("c1", "Rome")] },
      { text: ["Sunny."] },
    ]);
    const { result } = await provider.play(at.agent, "Weather?");
    expect(result.steps[0]?.reasoning).toBe("I need the weather.");
    expect((at.server.requests[1]!.body.messages as Json[])[1]).toMatchObject({
      role: "assistant",
      content: "Let me look.",
      reasoning_content: "I need the weather.",
      tool_calls: [{ id: "c1" }],
    });
  });

  test("provider metadata of a call is sent back with that call", async () => {
    await using at = await loopback(provider, [
      { calls: [{ ...ask("c1", "Rome"), signature: "THOUGHT" }, ask("c2", "Oslo")] },
      { text: ["Sunny."] },
    ]);
    await provider.play(at.agent, "Weather?");
    const [, asked] = at.server.requests[1]!.body.messages as { tool_calls: Json[] }[];
    expect(asked?.tool_calls[0]).toMatchObject({ extra_content: { google: { thought_signature: "THOUGHT" } } });
    expect(asked?.tool_calls[1]).not.toHaveProperty("extra_content");
  });

  test("provider metadata stays with its call if the call gets a new id", async () => {
    await using at = await loopback(provider, [
      { calls: [{ ...ask("c1", "Rome"), signature: "ONE" }] },
      { calls: [{ ...ask("c1", "Oslo"), signature: "TWO" }] },
      { text: ["Sunny."] },
    ]);
    await provider.play(at.agent, "Weather?");
    const messages = at.server.requests[2]!.body.messages as { tool_calls: Json[] }[];
    expect(messages[3]?.tool_calls[0]).toMatchObject({ extra_content: { google: { thought_signature: "TWO" } } });
    expect(messages[3]?.tool_calls[0]?.id).not.toBe("c1");
  });

  test("a plain answer stores no provider parts", async () => {
    await using at = await loopback(provider, [{ text: ["Sunny."] }]);
    const { result } = await provider.play(at.agent, "Weather?");
    expect(result.steps[0]?.messages[0]?.metadata).not.toHaveProperty("providerParts");
  });
});
