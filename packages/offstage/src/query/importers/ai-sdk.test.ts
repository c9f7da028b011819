import { describe, expect, test } from "vitest";
import { imageData, weatherTalk } from "../../../test/support/weather-talk.ts";
import { assistant, toolCall } from "../../messages/makers.ts";
import { MessageQuery } from "../message-query.ts";

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
    expect(MessageQuery.from(list).all()).toEqual(weatherTalk);
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
          { type: "image", image: imageData, mediaType: "image/jpeg" },
          { type: "file", data: imageData, mediaType: "image/png" },
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
      { type: "image_url", image_url: { url: `data:image/jpeg;base64,${imageData}` } },
      { type: "image_url", image_url: { url: `data:image/png;base64,${imageData}` } },
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
    expect(all.map(({ metadata: _, ...message }) => message)).toEqual(weatherTalk);
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

test("importing UI messages reads a denied call as rejected, and preliminary output as no result", () => {
  const part = { type: "tool-pay", input: {} };
  const parts = [
    { ...part, toolCallId: "c1", state: "output-denied", approval: { id: "c1", approved: false, reason: "Too much." } },
    { ...part, toolCallId: "c2", state: "output-available", output: "half", preliminary: true },
    { ...part, toolCallId: "c3", state: "output-available", output: "paid" },
  ];
  const [, ...results] = MessageQuery.from([{ id: "1", role: "assistant", parts }]).all();
  expect(results.map(({ content }) => content)).toEqual([
    "The call was rejected by the user and not run. Reason: Too much.",
    "paid",
  ]);
  expect(results[0]?.metadata).toMatchObject({ isError: true, status: "rejected" });
});
