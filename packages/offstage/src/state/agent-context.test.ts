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

test("a key that was never set reads as undefined, also one that every object has", () => {
  const context = new AgentContext();
  expect([context.get("x"), context.get("toString"), context.has("__proto__")]).toEqual([undefined, undefined, false]);
});

test("what it was made from does not change with it", () => {
  const values = { user: "Ada", visits: 1 };
  new AgentContext<Values>(values).set("visits", 5);
  expect(values.visits).toBe(1);
});

test("as JSON it is its values", () => {
  expect(JSON.parse(JSON.stringify(new AgentContext<Values>({ user: "Ada" })))).toEqual({ user: "Ada" });
});

test("contextOf takes a context as it is, and makes one of values or of nothing", () => {
  const context = new AgentContext<Values>();
  expect(contextOf(context)).toBe(context);
  expect(contextOf<Values>({ user: "Ada" }).get("user")).toBe("Ada");
  expect(contextOf(undefined).toJSON()).toEqual({});
});

test("values have the types of their keys", () => {
  const context = new AgentContext<Values>();
  expectTypeOf(context.get("visits")).toEqualTypeOf<number | undefined>();
});

test("a context of an interface's values goes into a run as it is, and so do the values", () => {
  expectTypeOf<AgentContext<Values>>().toExtend<NonNullable<RunOptions["context"]>>();
  expectTypeOf<Values>().toExtend<NonNullable<RunOptions["context"]>>();
});
