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
  ["the usual one", usual],
  ["without metadata", { role: "user", content: "Hi" }],
  ["with metadata of undefined", { ...usual, metadata: undefined }],
  ["with metadata of null", { ...usual, metadata: null }],
  ["with metadata that writes itself as nothing", { ...usual, metadata: { toJSON: () => undefined } }],
  ["that writes itself otherwise", new Redacted()],
  ["with a date", { ...usual, metadata: { at: new Date(0) } }],
  ["with parts", { ...usual, content: [{ type: "text", text: "Hi" }] }],
  ["with further fields", { ...usual, name: "Anna" }],
  ["with a symbol", { ...usual, [Symbol("mark")]: 1 }],
])("a message %s is copied as JSON would copy it, and deep-frozen", ([, given]) => {
  const kept = keptMessage(given as Message);
  expect(kept).toStrictEqual(JSON.parse(JSON.stringify(given)));
  expect([Object.isFrozen(kept), Object.isFrozen(kept.metadata ?? Object.freeze({}))]).toEqual([true, true]);
});
