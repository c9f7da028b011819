import fc from "fast-check";
import { expect, test } from "vitest";
import type { Message } from "../../messages/message.ts";
import { wholeTurns } from "./conversation.ts";

const user: Message = { role: "user", content: "q" };
const assistant: Message = { role: "assistant", content: "a" };
const conversation = fc.array(fc.constantFrom(user, assistant), { maxLength: 30 });

test("a cut conversation starts with a user message, contains the newest turn, and is within the limit or is that turn", () => {
  fc.assert(
    fc.property(conversation, fc.integer({ min: 1, max: 35 }), (messages, limit) => {
      const turns = wholeTurns(messages, limit, true) ?? [];
      const newest = messages.slice(Math.max(0, messages.map(({ role }) => role).lastIndexOf("user")));
      expect(turns).toEqual(messages.slice(messages.length - turns.length));
      if (turns.length === messages.length) return;
      expect(turns.length).toBeLessThanOrEqual(Math.max(limit, newest.length));
      if (messages.includes(user)) expect(turns[0]?.role).toBe("user");
      if (messages.includes(user)) expect(turns.length).toBeGreaterThanOrEqual(newest.length);
    }),
    { numRuns: 1_000 },
  );
});

test("cutting a part of the conversation gives the same as cutting all of it, or asks for more messages", () => {
  fc.assert(
    fc.property(conversation, fc.nat(35), fc.nat(30), (messages, limit, kept) => {
      const start = Math.max(0, messages.length - kept);
      const part = wholeTurns(messages.slice(start), limit, start === 0);
      if (part !== undefined) expect(part).toEqual(wholeTurns(messages, limit, true));
    }),
    { numRuns: 1_000 },
  );
});

test("without a limit all messages are kept, with a limit of 0 none", () => {
  expect(wholeTurns([assistant, user], undefined, true)).toEqual([assistant, user]);
  expect(wholeTurns([assistant, user], 0, true)).toEqual([]);
  expect(wholeTurns([assistant, user], undefined, false)).toBeUndefined();
});
