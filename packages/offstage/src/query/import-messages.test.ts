import { describe, expect, test } from "vitest";
import { assistant, system, toolCall, toolResult, user } from "../messages/makers.ts";
import { Messages } from "../messages/messages.ts";
import { MessageQuery } from "./message-query.ts";

// The same small conversation in every format: a question, a call with text beside it, its result, an answer.
const expected = [
  system("be brief"),
  user("Weather in Paris?"),
  assistant("Let me look.", { toolCalls: [toolCall("c1", "weather", { city: "Paris" })] }),
  toolResult("c1", "Sunny", { name: "weather" }),
  assistant("It is sunny."),
];
const nameless = expected.map((message) => {
  const { name: _, ...rest } = message as { name?: string };
  return rest;
});

const image = "iVBORw0KGgo=";

describe("importing OpenAI chat messages", () => {
  test("returns the same objects", () => {
    const all = MessageQuery.from(expected).all();
    expect(all).toEqual(expected);
    all.forEach((message, i) => {
      expect(message).toBe(expected[i]);
    });
  });

  test("brings older spellings up to date", () => {
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

  test("keeps parts of kinds it does not know", () => {
    const list = [
      user([{ type: "video_url", video_url: { url: "x" } }]),
      user([{ type: "file", file: { file_id: "f" } }]),
    ];
    expect(MessageQuery.from(list).all()).toEqual(list);
  });
});

describe("importing AI SDK model messages", () => {
  test("reads calls, results and failures", () => {
    const list = [
      { role: "system", content: "be brief" },
      { role: "user", content: [{ type: "text", text: "Weather in Paris?" }] },
      {
        role: "assistant",
        content: [
          { type: "text", text: "Let me look." },
          { type: "tool-call", toolCallId: "c1", toolName: "weather", input: { city: "Paris" } },
        ],
      },
      {
        role: "tool",
        content: [
          { type: "tool-result", toolCallId: "c1", toolName: "weather", output: { type: "text", value: "Sunny" } },
        ],
      },
      { role: "assistant", content: "It is sunny." },
    ];
    expect(MessageQuery.from(list).all()).toEqual(expected);
  });

  test("reads every kind of output, images, files and reasoning", () => {
    const result = (output: unknown, more = {}) => ({
      type: "tool-result",
      toolCallId: "c",
      toolName: "f",
      output,
      ...more,
    });
    const list = [
      {
        role: "user",
        content: [
          { type: "image", image, mediaType: "image/jpeg" },
          { type: "file", data: image, mediaType: "image/png" },
        ],
      },
      { role: "user", content: [{ type: "file", data: "x", mediaType: "text/plain" }] },
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "hm" },
          { type: "tool-call", toolCallId: "c", toolName: "f", args: { a: 1 } },
          result({ type: "json", value: { b: 2 } }),
        ],
      },
      {
        role: "tool",
        content: [
          result({ type: "error-text", value: "bad" }),
          result({ type: "error-json", value: { e: 1 } }),
          result({ type: "execution-denied", reason: "no" }),
          result({ type: "content", value: [{ type: "text", text: "parts" }] }),
          result(undefined, { result: "old form", isError: true }),
        ],
      },
    ];
    const all = MessageQuery.from(list).all();
    expect(all[0]?.content).toEqual([
      { type: "image_url", image_url: { url: `data:image/jpeg;base64,${image}` } },
      { type: "image_url", image_url: { url: `data:image/png;base64,${image}` } },
    ]);
    expect(all[1]?.content).toEqual([{ type: "file", data: "x", mediaType: "text/plain" }]);
    expect(all[2]).toEqual(
      assistant(null, { toolCalls: [toolCall("c", "f", { a: 1 })], metadata: { reasoning: "hm" } }),
    );
    expect(all.slice(3).map(({ content, metadata }) => [content, metadata?.isError])).toEqual([
      ['{"b":2}', undefined],
      ["bad", true],
      ['{"e":1}', true],
      ["no", true],
      ["parts", undefined],
      ["old form", true],
    ]);
  });
});

describe("importing AI SDK UI messages", () => {
  test("splits a message into its steps", () => {
    const list = [
      { id: "s", role: "system", parts: [{ type: "text", text: "be brief" }] },
      { id: "1", role: "user", parts: [{ type: "text", text: "Weather in Paris?" }] },
      {
        id: "2",
        role: "assistant",
        parts: [
          { type: "step-start" },
          { type: "text", text: "Let me look." },
          {
            type: "tool-weather",
            toolCallId: "c1",
            state: "output-available",
            input: { city: "Paris" },
            output: "Sunny",
          },
          { type: "step-start" },
          { type: "text", text: "It is sunny." },
        ],
      },
    ];
    const all = MessageQuery.from(list).all();
    expect(all.map(({ metadata: _, ...message }) => message)).toEqual(expected);
    expect(all.map(({ metadata }) => metadata?.id)).toEqual(["s", "1", "2", "2", "2"]);
  });

  test("reads dynamic and old tools, open and failed calls, files and times", () => {
    const list = [
      {
        role: "user",
        createdAt: new Date(0),
        parts: [
          { type: "file", mediaType: "image/png", url: "https://x/y.png" },
          { type: "source-url", url: "z" },
        ],
      },
      {
        role: "assistant",
        parts: [
          { type: "reasoning", text: "hm" },
          { type: "dynamic-tool", toolName: "a", toolCallId: "1", state: "output-error", input: {}, errorText: "bad" },
          { type: "tool-b", toolCallId: "2", state: "input-available", input: { x: 1 } },
          {
            type: "tool-invocation",
            toolInvocation: { toolName: "c", toolCallId: "3", state: "result", args: {}, result: { ok: 1 } },
          },
          { type: "text", text: "done" },
        ],
      },
    ];
    const [first, calls, failed, done, answer] = MessageQuery.from(list).all();
    expect(first).toMatchObject({
      content: [{ type: "image_url" }, { type: "source-url" }],
      metadata: { createdAt: "1970-01-01T00:00:00.000Z" },
    });
    expect(calls).toMatchObject({ metadata: { reasoning: "hm" }, tool_calls: [{ id: "1" }, { id: "2" }, { id: "3" }] });
    expect(failed).toMatchObject({ content: "bad", metadata: { isError: true } });
    expect(done).toMatchObject({ tool_call_id: "3", content: '{"ok":1}' });
    expect(answer).toEqual(assistant("done"));
  });
});

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
    expect(all.map(({ metadata: _, ...message }) => message)).toEqual(nameless.slice(1));
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
      { type: "image", source: { type: "base64", media_type: "image/png", data: image } },
      { type: "image", source: { type: "url", url: "https://x/y.png" } },
      { type: "document", source: {} },
    ];
    const [failed, empty, rest] = MessageQuery.from([{ role: "user", content: blocks }]).all();
    expect(failed).toEqual(toolResult("c", "bad", { isError: true }));
    expect(empty).toEqual(toolResult("d", ""));
    expect(rest?.content).toMatchObject([
      { image_url: { url: `data:image/png;base64,${image}` } },
      { image_url: { url: "https://x/y.png" } },
      { type: "document" },
    ]);
  });
});

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

  test("reads what LangChain serialises", () => {
    const list = fields.map(([name, , kwargs]) => ({
      lc: 1,
      type: "constructor",
      id: ["langchain_core", "messages", name],
      kwargs,
    }));
    expect(MessageQuery.from(list).all()).toEqual(expected);
  });

  test("reads what LangChain stores, and plain dumps", () => {
    expect(MessageQuery.from(fields.map(([, type, data]) => ({ type, data }))).all()).toEqual(expected);
    expect(MessageQuery.from(fields.map(([, type, data]) => ({ type, ...data }))).all()).toEqual(expected);
  });

  test("reads instances", () => {
    for (const method of ["getType", "_getType"]) {
      const list = fields.map(([, type, data]) => ({ ...data, [method]: () => type }));
      expect(MessageQuery.from(list).all()).toEqual(expected);
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
    expect(MessageQuery.from(items).all()).toEqual(nameless);
    expect(MessageQuery.from({ id: "resp", output: items.slice(2) }).all()).toEqual(nameless.slice(2));
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

describe("importing anything", () => {
  const query = new MessageQuery(expected);

  test("reads our own exports, lists, queries and single messages", () => {
    expect(MessageQuery.from(query.export("json")).all()).toEqual(expected);
    expect(MessageQuery.from(query.export("jsonl", { includeMetadata: true })).all()).toEqual(expected);
    expect(MessageQuery.from(query).all()).toEqual(expected);
    expect(MessageQuery.from(Messages.from(expected)).all()).toEqual(expected);
    expect(MessageQuery.from(user("x")).all()).toEqual([user("x")]);
    expect(MessageQuery.from([]).all()).toEqual([]);
    expect(MessageQuery.from("").all()).toEqual([]);
  });

  test("reads requests and responses that hold messages, as objects and as text", () => {
    expect(MessageQuery.from({ model: "x", messages: expected }).all()).toEqual(expected);
    const completion = { choices: [{ index: 0, message: assistant("hi") }] };
    expect(MessageQuery.from(completion).all()).toEqual([assistant("hi")]);
    expect(MessageQuery.from(JSON.stringify(completion, null, 2)).all()).toEqual([assistant("hi")]);
    expect(MessageQuery.from({ input: [user("x")] }).all()).toEqual([user("x")]);
  });

  test("passes its options on", () => {
    const tokenCounter = { count: () => 1, countMessage: () => 5, countMessages: () => 5 };
    expect(MessageQuery.from([user("x")], { tokenCounter }).stats().totalTokens).toBe(5);
  });

  test.for([
    [42, "item 0 is number 42"],
    [null, "item 0 is null"],
    [undefined, "item 0 is undefined"],
    [[user("x"), 5], "item 1 is number 5"],
    [[user("x"), ["y"]], "item 1 is a list"],
    [[user("x"), { foo: 1, bar: 2 }], 'item 1 is an object with the keys "foo", "bar"'],
    [{}, "the keys (none)"],
    [[{ role: "wizard", content: "x" }], 'an object of role "wizard" with the keys'],
    [[{ type: "blob" }], 'an object of type "blob" with'],
    [
      [
        { role: "assistant", content: [{ type: "tool_use" }] },
        { role: "tool", tool_call_id: "c", content: "" },
      ],
      "the list mixes Anthropic messages and OpenAI chat messages",
    ],
    ["hello", "Line 1 is not JSON"],
    ["[5]", "item 0 is number 5"],
  ] as const)("refuses %j and says what was found", ([value, sentence]) => {
    const attempt = () => MessageQuery.from(value);
    expect(attempt).toThrow(expect.objectContaining({ code: "invalid-format" }));
    expect(attempt).toThrow(sentence);
  });
});
