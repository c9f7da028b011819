import { describe, expect, test } from "vitest";
import { imageData, namelessTalk } from "../../../test/support/weather-talk.ts";
import { assistant, system, toolResult } from "../../messages/makers.ts";
import { MessageQuery } from "../message-query.ts";

describe("importing Anthropic messages", () => {
  const list = [
    { role: "user", content: "Weather in Paris?" },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "hm", signature: "s" },
        { type: "text", text: "Let me look." },
        { type: "tool_use", id: "c1", name: "weather", input: { city: "Paris" } },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "Sunny" }] },
    { role: "assistant", content: [{ type: "text", text: "It is sunny." }] },
  ];

  test("turns blocks into calls and results", () => {
    const all = MessageQuery.from(list).all();
    expect(all.map(({ metadata: _, ...message }) => message)).toEqual(namelessTalk.slice(1));
    expect(all[1]?.metadata).toEqual({ reasoning: "hm" });
  });

  test("reads a request with its system prompt, and a response with its usage", () => {
    expect(MessageQuery.from({ model: "claude", system: "be brief", messages: list }).first()).toEqual([
      system("be brief"),
    ]);
    const response = {
      id: "m",
      type: "message",
      role: "assistant",
      content: [{ type: "text", text: "hi" }],
      usage: { input_tokens: 3, output_tokens: 2 },
    };
    expect(MessageQuery.from(response).all()).toEqual([
      assistant("hi", { metadata: { id: "m", usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 } } }),
    ]);
  });

  test("reads images, failures, documents and text beside results", () => {
    const blocks = [
      { type: "tool_result", tool_use_id: "c", is_error: true, content: [{ type: "text", text: "bad" }] },
      { type: "tool_result", tool_use_id: "d" },
      { type: "image", source: { type: "base64", media_type: "image/png", data: imageData } },
      { type: "image", source: { type: "url", url: "https://x/y.png" } },
      { type: "document", source: {} },
    ];
    const [failed, empty, rest] = MessageQuery.from([{ role: "user", content: blocks }]).all();
    expect(failed).toEqual(toolResult("c", "bad", { isError: true }));
    expect(empty).toEqual(toolResult("d", ""));
    expect(rest?.content).toMatchObject([
      { image_url: { url: `data:image/png;base64,${imageData}` } },
      { image_url: { url: "https://x/y.png" } },
      { type: "document" },
    ]);
  });
});
