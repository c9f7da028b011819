import { describe, expect, test } from "vitest";
import { namelessTalk, weatherTalk } from "../../../test/support/weather-talk.ts";
import { assistant, system, toolCall, toolResult, user } from "../../messages/makers.ts";
import { MessageQuery } from "../message-query.ts";

describe("importing OpenAI chat messages", () => {
  test("returns the same objects", () => {
    const all = MessageQuery.from(weatherTalk).all();
    expect(all).toEqual(weatherTalk);
    all.forEach((message, i) => {
      expect(message).toBe(weatherTalk[i]);
    });
  });

  test("turns deprecated forms into current ones", () => {
    const old = [
      { role: "developer", content: "rules" },
      { role: "assistant", content: null, function_call: { name: "f", arguments: '{"a":1}' } },
      { role: "function", name: "f", content: "r" },
      { role: "assistant", content: "x", function_call: null },
    ];
    expect(MessageQuery.from(old).all()).toEqual([
      system("rules"),
      assistant(null, { toolCalls: [toolCall("f", "f", { a: 1 })] }),
      toolResult("f", "r", { name: "f" }),
      assistant("x"),
    ]);
  });

  test("keeps parts of unknown types", () => {
    const list = [
      user([{ type: "video_url", video_url: { url: "x" } }]),
      user([{ type: "file", file: { file_id: "f" } }]),
    ];
    expect(MessageQuery.from(list).all()).toEqual(list);
  });
});

describe("importing OpenAI Responses items", () => {
  const items = [
    { role: "developer", content: "be brief" },
    { type: "message", role: "user", content: [{ type: "input_text", text: "Weather in Paris?" }] },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "Let me look.", annotations: [] }] },
    { type: "function_call", call_id: "c1", name: "weather", arguments: '{"city":"Paris"}' },
    { type: "function_call_output", call_id: "c1", output: "Sunny" },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "It is sunny." }] },
  ];

  test("joins calls to the message before them", () => {
    expect(MessageQuery.from(items).all()).toEqual(namelessTalk);
    expect(MessageQuery.from({ id: "resp", output: items.slice(2) }).all()).toEqual(namelessTalk.slice(2));
  });

  test("keeps items of other kinds, reasoning and images", () => {
    const list = [
      {
        role: "user",
        content: [
          { type: "input_image", image_url: "https://x/y.png" },
          { type: "input_file", file_id: "f" },
        ],
      },
      { type: "reasoning", summary: [{ type: "summary_text", text: "hm" }] },
      { type: "custom_tool_call", call_id: "1", name: "f", input: "text" },
      { type: "custom_tool_call_output", call_id: "1", output: [{ type: "input_text", text: "parts" }] },
      { type: "web_search_call", id: "w" },
      { type: "function_call_output", call_id: "2", output: { a: 1 } },
      { type: "function_call", call_id: "3", name: "g", arguments: "{}" },
      { type: "message", role: "assistant", content: [{ type: "refusal", refusal: "no" }] },
    ];
    const all = MessageQuery.from(list).all();
    expect(all[0]?.content).toMatchObject([{ image_url: { url: "https://x/y.png" } }, { type: "input_file" }]);
    expect(all[1]).toMatchObject({
      metadata: { reasoning: "hm" },
      tool_calls: [{ id: "1", function: { arguments: "text" } }],
    });
    expect(all.map(({ content }) => content).slice(2)).toEqual([
      "parts",
      [{ type: "web_search_call", id: "w" }],
      '{"a":1}',
      null,
      [{ type: "refusal", refusal: "no" }],
    ]);
  });
});

test("importing items of the OpenAI Agents SDK reads calls and results", () => {
  const items = [
    { type: "message", role: "user", content: "What is the sky like?" },
    { type: "function_call", callId: "c1", name: "look", arguments: "{}", status: "completed" },
    {
      type: "function_call_result",
      callId: "c1",
      name: "look",
      status: "completed",
      output: { type: "text", text: "blue" },
    },
    { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "Blue." }] },
  ];
  expect(MessageQuery.from(items).all()).toEqual([
    { role: "user", content: "What is the sky like?" },
    { role: "assistant", content: null, tool_calls: [toolCall("c1", "look")] },
    { role: "tool", tool_call_id: "c1", name: "look", content: "blue" },
    { role: "assistant", content: "Blue." },
  ]);
});
