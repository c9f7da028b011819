import { expect, test } from "vitest";
import { user } from "./makers.ts";
import { MessageStore, Messages } from "./messages.ts";

const [a, b, c] = [user("a"), user("b"), user("c")];

test("sections are in the order in which they were named", () => {
  const store = MessageStore.of({ summary: [a], messages: [b] });
  expect(store.names).toEqual(["summary", "messages"]);
  expect(store.compile().toArray()).toEqual([a, b]);
});

test("compile returns the named sections in the order asked for", () => {
  const store = MessageStore.of({ summary: [a], other: [c], messages: [b] });
  expect(store.compile(["messages", "missing", "summary"]).toArray()).toEqual([b, a]);
});

test("compile of one filled section returns that very list", () => {
  const store = MessageStore.of({ summary: [], messages: [a] });
  expect(store.compile()).toBe(store.section("messages"));
});

test("a section that was never set is empty", () => {
  const store = MessageStore.empty();
  expect([store.has("x"), store.section("x")]).toEqual([false, Messages.empty()]);
});

test("withSection replaces a section in its place and leaves the store it is called on as it was", () => {
  const before = MessageStore.of({ summary: [a], messages: [b] });
  const after = before.withSection("summary", [c]);
  expect(after.compile().toArray()).toEqual([c, b]);
  expect(before.compile().toArray()).toEqual([a, b]);
});

test("withSection adds a new section at the end", () => {
  expect(MessageStore.of({ messages: [a] }).withSection("late", [b]).names).toEqual(["messages", "late"]);
});

test("append extends one section", () => {
  const before = MessageStore.of({ messages: [a] });
  const after = before.append("messages", [b, c]);
  expect(after.section("messages").toArray()).toEqual([a, b, c]);
  expect(after.section("messages").extends(before.section("messages"))).toBe(true);
});

test("append makes a missing section", () => {
  expect(MessageStore.empty().append("messages", a).toJSON()).toEqual({ messages: [a] });
});

test("a store survives JSON, also with sections named __proto__ and constructor", () => {
  const store = MessageStore.empty().withSection("__proto__", [a]).withSection("constructor", [b]);
  const read = MessageStore.of(JSON.parse(JSON.stringify(store)));
  expect(read.names).toEqual(["__proto__", "constructor"]);
  expect(read.compile().toArray()).toEqual([a, b]);
});

test("wrong values are refused with a sentence", () => {
  const of = (sections: unknown) => () => MessageStore.of(sections as never);
  expect(of(null)).toThrow("MessageStore.of() needs sections by name, such as { messages: […] }; found null.");
  expect(of([a])).toThrow("MessageStore.of() needs sections by name, such as { messages: […] }; found a list.");
  expect(of({ summary: 5 })).toThrow('"summary" must be a list of messages; found number 5.');
  const store = MessageStore.empty();
  expect(() => store.withSection(5 as never, [])).toThrow("The name of a section must be text; found 5.");
  expect(() => store.append("messages", undefined as never)).toThrow("append() needs a message or a list of messages");
  expect(() => store.compile("messages" as never)).toThrow(
    'compile() needs a list of section names; found "messages".',
  );
});
