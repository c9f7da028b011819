import { expect, test } from "vitest";
import type { Message } from "../messages/message.ts";
import { keptMessage } from "./message-rows.ts";

class Redacted {
  readonly role = "user";
  readonly content = "a secret";
  readonly metadata = { id: "1" };
  toJSON(): object {
    return { role: "user", content: "***", metadata: { id: "1" } };
  }
}

const usual = { role: "user", content: "Hi", metadata: { id: "1", usage: { inputTokens: 1 } } };

test.for([
  ["in the usual form", usual],
  ["without metadata", { role: "user", content: "Hi" }],
  ["with undefined metadata", { ...usual, metadata: undefined }],
  ["with null metadata", { ...usual, metadata: null }],
  ["with metadata whose toJSON() returns undefined", { ...usual, metadata: { toJSON: () => undefined } }],
  ["with a toJSON() of its own", new Redacted()],
  ["with a date", { ...usual, metadata: { at: new Date(0) } }],
  ["with parts", { ...usual, content: [{ type: "text", text: "Hi" }] }],
  ["with further fields", { ...usual, name: "Anna" }],
  ["with a symbol", { ...usual, [Symbol("mark")]: 1 }],
])("a message %s is copied as JSON would copy it, and deep-frozen", ([, given]) => {
  const kept = keptMessage(given as Message);
  expect(kept).toStrictEqual(JSON.parse(JSON.stringify(given)));
  expect([Object.isFrozen(kept), Object.isFrozen(kept.metadata ?? Object.freeze({}))]).toEqual([true, true]);
});
