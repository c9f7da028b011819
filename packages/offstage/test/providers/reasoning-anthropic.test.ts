// Anthropic's thinking is sent back unchanged and in its place during a run, and is never remembered.
import { describe, expect, test } from "vitest";
import { user } from "../../src/index.ts";
import type { FakeThought, Json } from "./fake-provider.ts";
import { anthropic, ask, facesOf, loopback } from "./loopback-agents.ts";

interface WireMessage {
  readonly role: string;
  readonly content: readonly Json[];
}

const first: FakeThought = { text: "I need the weather in Rome.", signature: "SIG-1" };
const second: FakeThought = { text: "And in Oslo.", signature: "SIG-2" };
const hidden: FakeThought = { redacted: "ENCRYPTED" };
const blockOf = { first: { type: "thinking", thinking: "I need the weather in Rome.", signature: "SIG-1" } };

function sent(server: { requests: readonly { body: Json }[] }, index: number): WireMessage[] {
  return server.requests[index]!.body.messages as WireMessage[];
}

function typesOf(message: WireMessage | undefined): unknown[] {
  return (message?.content ?? []).map(({ type }) => type);
}

describe.each(facesOf(anthropic))("$face", (provider) => {
  test("a thinking block is sent back with its signature, before its call", async () => {
    await using at = await loopback(provider, [
      { thoughts: [first], calls: [ask("c1", "Rome")] },
      { text: ["Sunny."] },
    ]);
    const { result } = await provider.play(at.agent, "Weather?");
    expect(sent(at.server, 1)[1]?.content).toMatchObject([blockOf.first, { type: "tool_use", id: "c1" }]);
    expect(result.steps[0]?.reasoning).toBe("I need the weather in Rome.");
    expect(result.text).toBe("Sunny.");
  });

  test("redacted thinking is sent back unchanged", async () => {
    const thoughts = [first, hidden];
    await using at = await loopback(provider, [{ thoughts, calls: [ask("c1", "Rome")] }, { text: ["Sunny."] }]);
    await provider.play(at.agent, "Weather?");
    expect(sent(at.server, 1)[1]?.content).toMatchObject([
      blockOf.first,
      { type: "redacted_thinking", data: "ENCRYPTED" },
      { type: "tool_use", id: "c1" },
    ]);
  });

  test("thinking with empty text is sent back with its signature", async () => {
    const thoughts = [{ text: "", signature: "SIG-EMPTY" }];
    await using at = await loopback(provider, [{ thoughts, calls: [ask("c1", "Rome")] }, { text: ["Sunny."] }]);
    await provider.play(at.agent, "Weather?");
    expect(sent(at.server, 1)[1]?.content[0]).toEqual({ type: "thinking", thinking: "", signature: "SIG-EMPTY" });
  });

  test("every step keeps its own thinking, beside text and parallel calls", async () => {
    await using at = await loopback(provider, [
      { thoughts: [first], text: ["Rome first."], calls: [ask("c1", "Rome"), ask("c2", "Ostia")] },
      { thoughts: [second, hidden], calls: [ask("c3", "Oslo")] },
      { thoughts: [{ text: "Done.", signature: "SIG-3" }], text: ["Sunny."] },
    ]);
    await provider.play(at.agent, "Weather?");
    const messages = sent(at.server, 2);
    expect(typesOf(messages[1])).toEqual(["thinking", "text", "tool_use", "tool_use"]);
    expect(typesOf(messages[3])).toEqual(["thinking", "redacted_thinking", "tool_use"]);
    expect(messages[3]?.content[0]).toMatchObject({ thinking: "And in Oslo.", signature: "SIG-2" });
  });

  test("thinking stays before its call if the call gets a new id", async () => {
    await using at = await loopback(provider, [
      { thoughts: [first], calls: [ask("c1", "Rome")] },
      { thoughts: [second], calls: [ask("c1", "Oslo")] },
      { text: ["Sunny."] },
    ]);
    await provider.play(at.agent, "Weather?");
    expect(typesOf(sent(at.server, 2)[3])).toEqual(["thinking", "tool_use"]);
  });

  test("thinking of a failed attempt is not sent back", async () => {
    await using at = await loopback(provider, [
      { begin: { thoughts: [second], text: ["Hm"] }, events: 5, ending: "reset" },
      { thoughts: [first], calls: [ask("c1", "Rome")] },
      { text: ["Sunny."] },
    ]);
    await provider.play(at.agent, "Weather?");
    expect(sent(at.server, 2)[1]?.content).toMatchObject([blockOf.first, { type: "tool_use" }]);
  });

  test("a reply with only thinking is an empty answer, and the conversation can continue", async () => {
    await using at = await loopback(provider, [{ thoughts: [first] }, { text: ["Back."] }]);
    const { result } = await provider.play(at.agent, "Weather?");
    expect(result.text).toBe("");
    const { result: next } = await provider.play(at.agent, [...result.state.messages, user("And now?")]);
    expect(next.text).toBe("Back.");
  });

  test("calls and results of a provider's server tool are sent back unchanged", async () => {
    const extra = [
      { type: "mcp_tool_use", id: "mcptoolu_1", name: "search", server_name: "library", input: { query: "Rome" } },
      {
        type: "mcp_tool_result",
        tool_use_id: "mcptoolu_1",
        is_error: false,
        content: [{ type: "text", text: "a city" }],
      },
    ];
    await using at = await loopback(provider, [{ extra, calls: [ask("c1", "Rome")] }, { text: ["Sunny."] }], {
      modelSettings: {
        providerOptions: { anthropic: { mcpServers: [{ type: "url", name: "library", url: "https://mcp.example" }] } },
      },
    });
    const { result } = await provider.play(at.agent, "Weather?");
    expect(result.steps[0]?.toolCalls.map(({ toolName }) => toolName)).toEqual(["weather"]);
    expect(sent(at.server, 1)[1]?.content).toMatchObject([...extra, { type: "tool_use", id: "c1" }]);
  });

  test("an answer without thinking or signatures stores no provider parts", async () => {
    await using at = await loopback(provider, [{ text: ["Sunny."] }]);
    const { result } = await provider.play(at.agent, "Weather?");
    expect(result.steps[0]?.messages[0]?.metadata).not.toHaveProperty("providerParts");
  });
});
