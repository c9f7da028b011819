import { describe, expect, test } from "vitest";
import { withinTime } from "../base/time-limit.ts";
import { user } from "../messages/makers.ts";
import { MessageQuery } from "./message-query.ts";

const bomb = `${"a".repeat(40)}!`;
const badPatterns = [
  ["(a+)+$", bomb],
  ["([a-zA-Z]+)*$", bomb],
  ["(a|aa)+$", bomb],
  ["(a|a?)+$", bomb],
  ["^(([a-z])+.)+[A-Z]([a-z])+$", bomb],
  ["(x+x+)+y", "x".repeat(40)],
  ["(.*a){20}$", `${"a".repeat(60)}!`],
  ["^(a+)+\\1$", bomb],
];

describe("an untrusted pattern", () => {
  test.for(badPatterns)("that never ends is stopped in bounded time: %s", ([pattern = "", text = ""]) => {
    const query = new MessageQuery([user("before"), user(text), user("after")]);
    const start = performance.now();
    const search = () => query.filter({ content: pattern, regex: true });
    expect(search).toThrow(
      expect.objectContaining({ code: "pattern-timeout", message: expect.stringContaining(pattern) }),
    );
    expect(performance.now() - start).toBeLessThan(5000);
  });

  test("that is no pattern throws an error that names it", () => {
    const search = () => new MessageQuery([user("x")]).filter({ content: "[unclosed", regex: true });
    expect(search).toThrow(/"\[unclosed" in "content" is not a regular expression/);
    expect(search).toThrow(expect.objectContaining({ code: "invalid-argument" }));
  });

  test("of more than 1000 characters is refused", () => {
    const search = () => new MessageQuery([user("x")]).filter({ content: "a".repeat(1001), regex: true });
    expect(search).toThrow(/1001 characters/);
  });

  test("that is neither text nor RegExp is refused", () => {
    expect(() => new MessageQuery([user("x")]).filter({ content: 5 as unknown as string })).toThrow(/text or a RegExp/);
  });

  test("that is harmless finds the same messages as a RegExp", () => {
    const query = new MessageQuery(Array.from({ length: 500 }, (_, i) => user(`line ${i}`)));
    expect(query.filter({ content: "\\b4\\d$", regex: true })).toEqual(query.filter({ content: /\b4\d$/ }));
  });
});

test("an error inside a time limit is passed on as it is", () => {
  const failure = new Error("inside");
  const work = () => {
    throw failure;
  };
  expect(() => withinTime(work, { timeoutMs: 1000, late: () => new Error("late") as never })).toThrow(failure);
});
