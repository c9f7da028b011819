import { expect, expectTypeOf, test } from "vitest";
import type { RunOptions } from "../agent/ports/agent-options.ts";
import { AgentContext, contextOf } from "./agent-context.ts";

interface Values {
  user: string;
  visits: number;
}

test("a context keeps values by key", () => {
  const context = new AgentContext<Values>({ user: "Ada" });
  context.set("visits", 1).set("visits", 2);
  expect([context.get("user"), context.get("visits"), context.has("visits")]).toEqual(["Ada", 2, true]);
});

test("a value can be deleted, once", () => {
  const context = new AgentContext<Values>({ user: "Ada" });
  expect([context.delete("user"), context.delete("user"), context.has("user")]).toEqual([true, false, false]);
});

test("a key that was never set reads as undefined, even one that every object has", () => {
  const context = new AgentContext();
  expect([context.get("x"), context.get("toString"), context.has("__proto__")]).toEqual([undefined, undefined, false]);
});

test("setting a value does not change the object that the context was made from", () => {
  const values = { user: "Ada", visits: 1 };
  new AgentContext<Values>(values).set("visits", 5);
  expect(values.visits).toBe(1);
});

test("its JSON is its values", () => {
  expect(JSON.parse(JSON.stringify(new AgentContext<Values>({ user: "Ada" })))).toEqual({ user: "Ada" });
});

test("contextOf returns a context as it is, and makes one from values or from nothing", () => {
  const context = new AgentContext<Values>();
  expect(contextOf(context)).toBe(context);
  expect(contextOf<Values>({ user: "Ada" }).get("user")).toBe("Ada");
  expect(contextOf(undefined).toJSON()).toEqual({});
  expect(contextOf(null).toJSON()).toEqual({});
});

test.for([5, "text", ["a", "list"]])("%j instead of values is refused", (values) => {
  expect(() => new AgentContext(values as never)).toThrow('"values" must be an object of values');
});

test("values have the types of their keys", () => {
  const context = new AgentContext<Values>();
  expectTypeOf(context.get("visits")).toEqualTypeOf<number | undefined>();
});

test("a run accepts a context with typed values, and the plain values", () => {
  expectTypeOf<AgentContext<Values>>().toExtend<NonNullable<RunOptions["context"]>>();
  expectTypeOf<Values>().toExtend<NonNullable<RunOptions["context"]>>();
});
