import { expect, test } from "vitest";
import { OffstageError } from "../errors.ts";
import { withinTime } from "./time-limit.ts";

const late = () => new OffstageError("pattern-timeout", "too late");

function spin(ms: number): string {
  const end = performance.now() + ms;
  while (performance.now() < end);
  return "done";
}

test("work returns its result, or throws its own error", () => {
  expect(withinTime(() => 5, { timeoutMs: 1000, late })).toBe(5);
  const fail = () => {
    throw new RangeError("broken");
  };
  expect(() => withinTime(fail, { timeoutMs: 1000, late })).toThrow("broken");
});

test("work that takes too long is stopped, and later work is not affected", () => {
  expect(() => withinTime(() => spin(500), { timeoutMs: 20, late })).toThrow("too late");
  expect(withinTime(() => "next", { timeoutMs: 1000, late })).toBe("next");
});

test("work may contain limited work, which may be too late on its own", () => {
  const inner = () => {
    try {
      return withinTime(() => spin(500), { timeoutMs: 20, late });
    } catch (error) {
      return (error as Error).message;
    }
  };
  const outer = () => [withinTime(() => 1, { timeoutMs: 1000, late }), inner()];
  expect(withinTime(outer, { timeoutMs: 2000, late })).toEqual([1, "too late"]);
});
