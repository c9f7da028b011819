import { expect, test } from "vitest";
import { jsonCopy } from "./plain-json.ts";

test("a copy of JSON data shares nothing with it", () => {
  const data = { text: "a", list: [{ n: 1 }], nested: { flag: false, none: null } };
  const copied = jsonCopy(data);
  expect(copied).toStrictEqual(data);
  expect(copied.nested).not.toBe(data.nested);
  expect(copied.list[0]).not.toBe(data.list[0]);
});

test("what is not JSON becomes what JSON makes of it", () => {
  const mark = Symbol("mark");
  const odd = { [mark]: {}, gone: undefined, zero: -0, none: Number.NaN, at: new Date(0), list: [Infinity] };
  const copied = jsonCopy<Record<PropertyKey, unknown>>(odd);
  expect(copied).toStrictEqual({ zero: 0, none: null, at: "1970-01-01T00:00:00.000Z", list: [null] });
  expect(Object.getOwnPropertySymbols(copied)).toEqual([]);
  expect(jsonCopy({ inner: { [mark]: 1, a: 1 } })).toStrictEqual({ inner: { a: 1 } });
});

test("a field called __proto__ is data", () => {
  const copied = jsonCopy(JSON.parse('{ "__proto__": { "a": [1] }, "b": 2 }')) as object;
  expect(JSON.stringify(copied)).toBe('{"__proto__":{"a":[1]},"b":2}');
  expect(Object.getPrototypeOf(copied)).toBe(Object.prototype);
});

test("a field that every object inherits does not become the copy's own", () => {
  const prototype = Object.prototype as Record<string, unknown>;
  try {
    Object.assign(prototype, { polluted: true, none: null });
    expect(Object.keys(jsonCopy({ a: [{ b: 1 }] }))).toEqual(["a"]);
  } finally {
    delete prototype.polluted;
    delete prototype.none;
  }
});
