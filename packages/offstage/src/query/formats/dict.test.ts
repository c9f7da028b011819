import fc from "fast-check";
import { expect, test } from "vitest";
import { assistant, toolCall, user } from "../../messages/makers.ts";
import type { Message } from "../../messages/message.ts";
import { MessageQuery } from "../message-query.ts";

test("no change to a dict export, at any depth, changes a message", () => {
  const json = fc.jsonValue({ maxDepth: 3 });
  const message = fc.record({ role: fc.constant("user"), content: json, metadata: json, tool_calls: json, more: json });
  fc.assert(
    fc.property(fc.array(message, { maxLength: 4 }), fc.boolean(), (list, redact) => {
      const before = structuredClone(list);
      ruin(new MessageQuery(list as unknown as Message[]).export("dict", { redact }));
      expect(list).toEqual(before);
    }),
    { numRuns: 1000 },
  );
});

test("a dict export can be changed even if the messages are frozen", () => {
  const metadata = Object.freeze({ usage: Object.freeze({ inputTokens: 1 }) });
  const [copy] = new MessageQuery([Object.freeze(user("x", { metadata }))]).export("dict");
  Object.assign(copy?.metadata?.usage as object, { inputTokens: 2 });
  expect(metadata.usage.inputTokens).toBe(1);
  expect(copy?.metadata?.usage).toEqual({ inputTokens: 2 });
});

test("a dict export equals its source, whatever the source holds", () => {
  const circle: { self?: unknown; at: Date } = { at: new Date(5) };
  circle.self = circle;
  const call = toolCall("c", "f", { a: 1 });
  const list = [assistant(null, { toolCalls: [call, call], metadata: { circle, ["__proto__"]: 1 } })];
  const [copy] = new MessageQuery(list).export("dict");
  expect(copy).toMatchObject({ ...list[0] });
  expect(copy?.metadata?.circle).toEqual(circle);
  expect(Object.values(copy?.metadata?.circle ?? {})).not.toContain(circle.at);
});

function ruin(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  for (const item of Object.values(value)) ruin(item);
  if (Array.isArray(value)) value.push("ruined");
  for (const key of Object.keys(value)) Reflect.set(value, key, "ruined");
}
