import { expect, test } from "vitest";
import { frozenCopy } from "../../base/json.ts";

test("a frozen copy shares nothing with the original", () => {
  const data = { text: "a", list: [{ n: 1 }], nested: { flag: false, none: null } };
  const copied = frozenCopy(data);
  expect(copied).toStrictEqual(data);
  expect(copied.nested).not.toBe(data.nested);
  expect(copied.list[0]).not.toBe(data.list[0]);
  expect([copied, copied.list, copied.list[0], copied.nested].every(Object.isFrozen)).toBe(true);
});

test("other values are copied as JSON.stringify would write them", () => {
  const mark = Symbol("mark");
  const odd = { [mark]: {}, gone: undefined, zero: -0, none: Number.NaN, at: new Date(0), list: [Infinity] };
  const copied = frozenCopy<Record<PropertyKey, unknown>>(odd);
  expect(copied).toStrictEqual({ zero: 0, none: null, at: "1970-01-01T00:00:00.000Z", list: [null] });
  expect(Object.getOwnPropertySymbols(copied)).toEqual([]);
  expect([copied, copied.list].every(Object.isFrozen)).toBe(true);
  expect(frozenCopy({ inner: { [mark]: 1, a: 1 } })).toStrictEqual({ inner: { a: 1 } });
});

test("a value with a toJSON() of its own is copied as that returns it", () => {
  class Redacted {
    readonly content = "a secret";
    toJSON(): object {
      return { content: "***" };
    }
  }
  expect(frozenCopy<object>(new Redacted())).toStrictEqual({ content: "***" });
  const message = { role: "user", content: "Hi", metadata: { toJSON: () => undefined } };
  expect(frozenCopy<object>(message)).toStrictEqual({ role: "user", content: "Hi" });
});

test("a field called __proto__ is copied as a field", () => {
  const copied = frozenCopy(JSON.parse('{ "__proto__": { "a": [1] }, "b": 2 }')) as object;
  expect(JSON.stringify(copied)).toBe('{"__proto__":{"a":[1]},"b":2}');
  expect(Object.getPrototypeOf(copied)).toBe(Object.prototype);
});

test("inherited fields are not copied", () => {
  const prototype = Object.prototype as Record<string, unknown>;
  try {
    Object.assign(prototype, { polluted: true, none: null });
    expect(Object.keys(frozenCopy({ a: [{ b: 1 }] }))).toEqual(["a"]);
  } finally {
    delete prototype.polluted;
    delete prototype.none;
  }
});
