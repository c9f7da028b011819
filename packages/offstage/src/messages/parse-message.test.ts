import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { validHistories } from "../../test/support/generated-histories.ts";
import { isOffstageError } from "../errors.ts";
import { toolCall, user } from "./makers.ts";
import { parseMessage, parseMessages } from "./message.ts";
import { Messages } from "./messages.ts";

const calling = (call: unknown) => ({ role: "assistant", content: null, tool_calls: [call] });
const named = (called: unknown) => calling({ id: "c1", type: "function", function: called });

const faults: readonly [what: string, message: unknown, says: string][] = [
  ["text instead of a message", "hi", '"messages[1]" must be an object with a role; found "hi".'],
  ["null", null, '"messages[1]" must be an object with a role; found null.'],
  ["a list", [1, 2], '"messages[1]" must be an object with a role; found a list of 2.'],
  ["no role", { content: "x" }, '"messages[1].role" must be "system", "user", "assistant" or "tool"; found undefined.'],
  ["an unknown role", { role: "toString" }, '"messages[1].role" must be'],
  [
    "a user without content",
    { role: "user" },
    '"messages[1].content" must be text or a list of parts; found undefined',
  ],
  [
    "a number as content",
    { role: "system", content: 5 },
    '"messages[1].content" must be text or a list of parts; found number 5',
  ],
  [
    "a part that is text",
    { role: "user", content: ["x"] },
    '"messages[1].content[0]" must be an object with a type; found "x"',
  ],
  ["a part without a type", { role: "user", content: [{}] }, '"messages[1].content[0].type" must be text'],
  [
    "a text part without text",
    { role: "user", content: [{ type: "text" }] },
    '"messages[1].content[0].text" must be text',
  ],
  [
    "an assistant's content",
    { role: "assistant", content: {} },
    '"messages[1].content" must be text or a list of parts; found an object',
  ],
  [
    "calls that are no list",
    { role: "assistant", content: "x", tool_calls: {} },
    '"messages[1].tool_calls" must be a list',
  ],
  ["a call that is no object", calling(3), '"messages[1].tool_calls[0]" must be an object; found number 3'],
  ["a call without an id", calling({ function: {} }), '"messages[1].tool_calls[0].id" must be text'],
  ["a call without a function", calling({ id: "c1" }), '"messages[1].tool_calls[0].function" must be an object'],
  ["a call without a name", named({ arguments: "{}" }), '"messages[1].tool_calls[0].function.name" must be text'],
  [
    "arguments that are no text",
    named({ name: "f", arguments: {} }),
    '"messages[1].tool_calls[0].function.arguments" must be JSON text',
  ],
  ["a result without a call id", { role: "tool", content: "x" }, '"messages[1].tool_call_id" must be text'],
  [
    "a result without content",
    { role: "tool", tool_call_id: "c1" },
    '"messages[1].content" must be text or a list of parts',
  ],
  [
    "metadata that is text",
    { role: "user", content: "x", metadata: "m" },
    '"messages[1].metadata" must be an object; found "m"',
  ],
];

describe("an error names the message and the field", () => {
  test.for(faults)("%s", ([, message, says]) => {
    expect(() => parseMessages([user("hi"), message])).toThrow(says);
  });

  test("its code is invalid-message", () => {
    expect(() => parseMessage(7)).toThrow(expect.objectContaining({ code: "invalid-message" }));
  });

  test("it uses the name that was given to the list", () => {
    expect(() => parseMessages([3], { name: "history" })).toThrow('"history[0]" must be an object');
  });

  test("it shows no more than the beginning of a long text", () => {
    const long = "x".repeat(1000);
    expect(() => parseMessages([long])).toThrow(`found "${"x".repeat(40)}…".`);
  });

  test("unknown options are refused", () => {
    expect(() => parseMessages([], { nam: "x" } as object)).toThrow(
      'Unknown parseMessages option "nam". Valid options: name.',
    );
  });

  test.for([undefined, null, "text", 5, {}])("a value %j in place of a list is refused", (value) => {
    expect(() => parseMessages(value)).toThrow('"messages" must be a list of messages');
  });
});

describe("a message passes", () => {
  test("as the same object, with unknown fields", () => {
    const message = { role: "user", content: "hi", cache_control: { type: "ephemeral" }, metadata: { mine: [1] } };
    const copy = structuredClone(message);
    expect(parseMessages([message])[0]).toBe(message);
    expect(message).toEqual(copy);
  });

  test("with a part of an unknown type", () => {
    const message = { role: "user", content: [{ type: "video", seconds: 3 }] };
    expect(parseMessage(message)).toBe(message);
  });

  test.for([null, undefined])("an assistant with calls and content %j", (content) => {
    const message = { role: "assistant", content, tool_calls: [toolCall("c1", "f")] };
    expect(parseMessage(message)).toBe(message);
  });

  test("an assistant whose tool_calls are null", () => {
    const message = { role: "assistant", content: "x", tool_calls: null };
    expect(parseMessage(message)).toBe(message);
  });

  test("from any iterable", () => {
    const messages = [user("a"), user("b")];
    expect(parseMessages(new Set(messages))).toEqual(messages);
    expect(parseMessages(Messages.from(messages))).toEqual(messages);
  });

  test("if it was generated valid, also after a JSON round trip", () => {
    const property = fc.property(validHistories, (history) => {
      expect(parseMessages(JSON.parse(JSON.stringify(history)))).toEqual(history);
    });
    fc.assert(property, { numRuns: 300 });
  });
});

test("any value is accepted as it is or refused with invalid-message", () => {
  const property = fc.property(fc.anything(), (value) => {
    try {
      expect(parseMessage(value)).toBe(value);
    } catch (error) {
      expect(isOffstageError(error, "invalid-message")).toBe(true);
    }
  });
  fc.assert(property, { numRuns: 1000 });
});
