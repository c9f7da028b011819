import { expect, test } from "vitest";
import { isOffstageError, messageOf, OffstageError } from "./errors.ts";

test("isOffstageError() recognises an error by its code", () => {
  const error = new OffstageError("session-busy", "It is busy.");
  expect([
    isOffstageError(error),
    isOffstageError(error, "session-busy"),
    isOffstageError(error, "store-full"),
  ]).toEqual([true, true, false]);
});

test("isOffstageError() recognises an error of another copy of the package", async () => {
  const copy = (await import(`${"./errors.ts"}?copy`)) as typeof import("./errors.ts");
  expect(new copy.OffstageError("wrong-key", "x")).not.toBeInstanceOf(OffstageError);
  expect(isOffstageError(new copy.OffstageError("wrong-key", "x"), "wrong-key")).toBe(true);
});

test.for([[undefined], [null], ["text"], [new Error("x")], [{ code: "session-busy" }]])(
  "isOffstageError() is false for %s",
  ([value]) => {
    expect(isOffstageError(value)).toBe(false);
  },
);

test("an error has a cause only if one was given, even undefined", () => {
  expect(new OffstageError("run-failed", "x", { cause: 7 }).cause).toBe(7);
  expect("cause" in new OffstageError("run-failed", "x", { cause: undefined })).toBe(true);
  expect("cause" in new OffstageError("run-failed", "x")).toBe(false);
});

test("the result of a failed run is not printed with its error", () => {
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
  ["the message of an error", new Error("broken"), "broken"],
  ["the name of an error without a message", new TypeError(), "TypeError"],
  ["text unchanged", "plain", "plain"],
  ["a number as text", 42, "42"],
  ["undefined as text", undefined, "undefined"],
  ["the message of an object that is not an error", { message: "quota" }, "quota"],
  ["an object as JSON", { code: 5 }, '{"code":5}'],
  [
    "every message of an AggregateError",
    new AggregateError([new Error("one"), "two"], "Both failed"),
    "Both failed: one; two",
  ],
  ["a placeholder for a value whose toString() throws", unshowable, "an error that cannot be shown"],
  ["a placeholder for an object without a prototype", Object.create(null), "an error that cannot be shown"],
  ["a message that is not text", symbolic, "Symbol(s)"],
] as const)("messageOf() returns %s", ([, thrown, text]) => {
  expect(messageOf(thrown)).toBe(text);
});
