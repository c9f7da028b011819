import { expect, test } from "vitest";
import { parseArguments } from "./json.ts";

const nested = (depth: number): string => `{"a":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;

test("JSON up to 512 levels deep is read", () => {
  expect(parseArguments(nested(512))).toEqual(JSON.parse(nested(512)));
});

test("deeper JSON is not read, because it could not be written again", () => {
  expect([513, 5_000, 1_000_000].map((depth) => parseArguments(nested(depth)))).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test("brackets within strings are no levels, also behind escapes", () => {
  const value = { a: `\\"${"[{".repeat(3_000)}\\`, b: ["\\\\", "]"] };
  expect(parseArguments(JSON.stringify(value))).toEqual(value);
});

test("wide is not deep", () => {
  const value = { a: Array.from({ length: 2_000 }, () => [{}]) };
  expect(parseArguments(JSON.stringify(value))).toEqual(value);
});

test("text that is not JSON is not read", () => {
  expect([parseArguments("{"), parseArguments(`{"a":"${"x".repeat(2_000)}`)]).toEqual([undefined, undefined]);
});
