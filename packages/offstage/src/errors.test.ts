import { expect, test } from "vitest";
import { isOffstageError, messageOf, OffstageError } from "./errors.ts";

test("an error is known by its code", () => {
  const error = new OffstageError("session-busy", "It is busy.");
  expect([
    isOffstageError(error),
    isOffstageError(error, "session-busy"),
    isOffstageError(error, "store-full"),
  ]).toEqual([true, true, false]);
});

test("an error of another copy of the package is known too", async () => {
  const copy = (await import(`${"./errors.ts"}?copy`)) as typeof import("./errors.ts");
  expect(new copy.OffstageError("wrong-key", "x")).not.toBeInstanceOf(OffstageError);
  expect(isOffstageError(new copy.OffstageError("wrong-key", "x"), "wrong-key")).toBe(true);
});

test.for([undefined, null, "text", new Error("x"), { code: "session-busy" }])("%s is no such error", (value) => {
  expect(isOffstageError(value)).toBe(false);
});

test("an error has its cause where one was given, even undefined", () => {
  expect(new OffstageError("run-failed", "x", { cause: 7 }).cause).toBe(7);
  expect("cause" in new OffstageError("run-failed", "x", { cause: undefined })).toBe(true);
  expect("cause" in new OffstageError("run-failed", "x")).toBe(false);
});

test("what a failed run did stays out of what is printed", () => {
  const error = new OffstageError("run-failed", "x", { result: { big: true } });
  expect(error.result).toEqual({ big: true });
  expect(Object.keys(error)).not.toContain("result");
});

const unshowable = {
  toString() {
    throw new Error("no");
  },
};
const symbolic = Object.assign(new Error("x"), { message: Symbol("s") });

test.for([
  ["an error's message", new Error("broken"), "broken"],
  ["an error's name where it has no message", new TypeError(), "TypeError"],
  ["text as it is", "plain", "plain"],
  ["anything else as text", 42, "42"],
  ["undefined", undefined, "undefined"],
  ["the message of an object that is no error", { message: "quota" }, "quota"],
  ["an object as JSON", { code: 5 }, '{"code":5}'],
  ["all that an error gathers", new AggregateError([new Error("one"), "two"], "Both failed"), "Both failed: one; two"],
  ["a stand-in for what cannot be shown", unshowable, "an error that cannot be shown"],
  ["a stand-in for an object without a prototype", Object.create(null), "an error that cannot be shown"],
  ["a message that is no text", symbolic, "Symbol(s)"],
] as const)("messageOf gives %s", ([, thrown, text]) => {
  expect(messageOf(thrown)).toBe(text);
});
