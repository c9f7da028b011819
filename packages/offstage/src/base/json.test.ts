import { expect, test } from "vitest";
import { parseArguments } from "./json.ts";

const nested = (depth: number): string => `{"a":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;

test("arguments up to 512 levels deep are parsed", () => {
  expect(parseArguments(nested(512))).toEqual(JSON.parse(nested(512)));
});

test("deeper arguments are not parsed, because they could not be sent", () => {
  expect([513, 5_000, 1_000_000].map((depth) => parseArguments(nested(depth)))).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test("brackets inside strings do not count as levels, even next to escapes", () => {
  const value = { a: `\\"${"[{".repeat(3_000)}\\`, b: ["\\\\", "]"] };
  expect(parseArguments(JSON.stringify(value))).toEqual(value);
});

test("a long list is not a deep one", () => {
  const value = { a: Array.from({ length: 2_000 }, () => [{}]) };
  expect(parseArguments(JSON.stringify(value))).toEqual(value);
});

test("invalid JSON is not parsed", () => {
  expect([parseArguments("{"), parseArguments(`{"a":"${"x".repeat(2_000)}`)]).toEqual([undefined, undefined]);
});
