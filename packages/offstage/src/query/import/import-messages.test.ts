import { describe, expect, test } from "vitest";
import { weatherTalk } from "../../../test/support/weather-talk.ts";
import { assistant, user } from "../../messages/makers.ts";
import { Messages } from "../../messages/messages.ts";
import { MessageQuery } from "../message-query.ts";

describe("importing anything", () => {
  const query = new MessageQuery(weatherTalk);

  test("reads our own exports, lists, queries and single messages", () => {
    expect(MessageQuery.from(query.export("json")).all()).toEqual(weatherTalk);
    expect(MessageQuery.from(query.export("jsonl", { includeMetadata: true })).all()).toEqual(weatherTalk);
    expect(MessageQuery.from(query).all()).toEqual(weatherTalk);
    expect(MessageQuery.from(Messages.from(weatherTalk)).all()).toEqual(weatherTalk);
    expect(MessageQuery.from(user("x")).all()).toEqual([user("x")]);
    expect(MessageQuery.from([]).all()).toEqual([]);
    expect(MessageQuery.from("").all()).toEqual([]);
  });

  test("reads requests and responses that hold messages, as objects and as text", () => {
    expect(MessageQuery.from({ model: "x", messages: weatherTalk }).all()).toEqual(weatherTalk);
    const completion = { choices: [{ index: 0, message: assistant("hi") }] };
    expect(MessageQuery.from(completion).all()).toEqual([assistant("hi")]);
    expect(MessageQuery.from(JSON.stringify(completion, null, 2)).all()).toEqual([assistant("hi")]);
    expect(MessageQuery.from({ input: [user("x")] }).all()).toEqual([user("x")]);
  });

  test("passes its options to the query", () => {
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
  ] as const)("refuses %j, naming what was found", ([value, sentence]) => {
    const attempt = () => MessageQuery.from(value);
    expect(attempt).toThrow(expect.objectContaining({ code: "invalid-format" }));
    expect(attempt).toThrow(sentence);
  });
});
