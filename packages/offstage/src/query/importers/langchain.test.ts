import { describe, expect, test } from "vitest";
import { weatherTalk } from "../../../test/support/weather-talk.ts";
import { assistant, toolCall, toolResult } from "../../messages/makers.ts";
import { MessageQuery } from "../message-query.ts";

describe("importing LangChain messages", () => {
  const fields = [
    ["SystemMessage", "system", { content: "be brief" }],
    ["HumanMessage", "human", { content: "Weather in Paris?" }],
    [
      "AIMessage",
      "ai",
      {
        content: "Let me look.",
        tool_calls: [{ id: "c1", name: "weather", args: { city: "Paris" }, type: "tool_call" }],
      },
    ],
    ["ToolMessage", "tool", { content: "Sunny", tool_call_id: "c1", name: "weather" }],
    ["AIMessageChunk", "ai", { content: "It is sunny.", tool_calls: [] }],
  ] as const;

  test("reads serialised messages", () => {
    const list = fields.map(([name, , kwargs]) => ({
      lc: 1,
      type: "constructor",
      id: ["langchain_core", "messages", name],
      kwargs,
    }));
    expect(MessageQuery.from(list).all()).toEqual(weatherTalk);
  });

  test("reads stored messages, and plain dumps", () => {
    expect(MessageQuery.from(fields.map(([, type, data]) => ({ type, data }))).all()).toEqual(weatherTalk);
    expect(MessageQuery.from(fields.map(([, type, data]) => ({ type, ...data }))).all()).toEqual(weatherTalk);
  });

  test("reads instances", () => {
    for (const method of ["getType", "_getType"]) {
      const list = fields.map(([, type, data]) => ({ ...data, [method]: () => type }));
      expect(MessageQuery.from(list).all()).toEqual(weatherTalk);
    }
  });

  test("reads raw calls, failures, usage, images and blocks", () => {
    const list = [
      {
        type: "human",
        content: [
          { type: "image_url", image_url: "https://x/y.png" },
          { type: "image_url", image_url: { url: "z" } },
        ],
      },
      {
        type: "ai",
        id: "m",
        content: [
          { type: "text", text: "a" },
          { type: "tool_use", id: "c", name: "f", input: {} },
        ],
        additional_kwargs: { tool_calls: [{ id: "c", function: { name: "f", arguments: "{}" } }] },
        usage_metadata: { input_tokens: 1, output_tokens: 2 },
      },
      { type: "tool", content: "bad", tool_call_id: "c", status: "error" },
    ];
    const [pictures, call, failed] = MessageQuery.from(list).all();
    expect(pictures?.content).toMatchObject([{ image_url: { url: "https://x/y.png" } }, { image_url: { url: "z" } }]);
    expect(call).toEqual(
      assistant("a", {
        toolCalls: [toolCall("c", "f")],
        metadata: { id: "m", usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 } },
      }),
    );
    expect(failed).toEqual(toolResult("c", "bad", { isError: true }));
  });
});
