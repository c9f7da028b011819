import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { jsonSafe } from "./json-safe.ts";

class Point {
  x = 1;
  readonly #hidden = 2;
  get sum(): number {
    return this.x + this.#hidden;
  }
}

const circular: Record<string, unknown> = { name: "loop", list: [] };
circular.self = circular;
(circular.list as unknown[]).push(circular);

const shared = { a: 1 };

const throwing = {
  fine: 1,
  get bad(): never {
    throw new Error("not today");
  },
};

const hostile = new Proxy({}, { ownKeys: () => fail(), get: () => fail(), getPrototypeOf: () => fail() });
const { proxy: revoked, revoke } = Proxy.revocable({}, {});
revoke();

function fail(): never {
  throw new Error("trapped");
}

function thrownSymbol(): never {
  throw Object.assign(new Error(), { message: Symbol("s") });
}

const table: readonly [what: string, value: unknown, expected: unknown][] = [
  ["undefined", undefined, null],
  ["null", null, null],
  ["NaN", Number.NaN, "NaN"],
  ["Infinity", Number.NEGATIVE_INFINITY, "-Infinity"],
  ["negative zero", -0, 0],
  ["a BigInt", 12345678901234567890n, "12345678901234567890"],
  ["a symbol", Symbol("s"), "[symbol]"],
  ["a function", () => 1, "[function]"],
  ["a class", Point, "[function]"],
  ["a Map with text keys", new Map([["a", new Map([["b", 1n]])]]), { a: { b: "1" } }],
  [
    "a Map with other keys",
    new Map<unknown, unknown>([
      [1, "a"],
      [{ k: 1 }, "b"],
    ]),
    [
      [1, "a"],
      [{ k: 1 }, "b"],
    ],
  ],
  ["a Set", new Set([1, "a", new Set()]), [1, "a", []]],
  ["a circle", circular, { name: "loop", list: ["[circular]"], self: "[circular]" }],
  ["the same object twice, which is no circle", [shared, { again: shared }], [{ a: 1 }, { again: { a: 1 } }]],
  ["a throwing getter", throwing, { fine: 1, bad: "[unreadable: not today]" }],
  [
    "a getter that throws what cannot be shown",
    {
      get a() {
        return thrownSymbol();
      },
    },
    { a: "[unreadable: Symbol(s)]" },
  ],
  ["a Proxy that throws", hostile, "[unreadable: trapped]"],
  ["a Proxy that throws, inside", { a: 1, b: hostile }, { a: 1, b: "[unreadable: trapped]" }],
  ["a Date", new Date(0), "1970-01-01T00:00:00.000Z"],
  ["an invalid Date", new Date(Number.NaN), "Invalid Date"],
  ["an Error", new RangeError("too far"), { name: "RangeError", message: "too far" }],
  [
    "an Error with a cause and fields",
    Object.assign(new Error("a", { cause: new Error("b") }), { status: 500 }),
    { name: "Error", message: "a", cause: { name: "Error", message: "b" }, status: 500 },
  ],
  ["a Buffer", Buffer.from("hi"), { bytes: 2, base64: "aGk=" }],
  ["a typed array", new Uint16Array([1]).subarray(0, 1), { bytes: 2, base64: "AQA=" }],
  ["an ArrayBuffer", new ArrayBuffer(1), { bytes: 1, base64: "AA==" }],
  ["a RegExp", /a+/g, "/a+/g"],
  ["a URL", new URL("https://example.com/a?b"), "https://example.com/a?b"],
  ["an own __proto__ key", JSON.parse('{"__proto__":{"admin":true}}'), JSON.parse('{"__proto__":{"admin":true}}')],
  ["a class instance", new Point(), { x: 1 }],
  ["an object without a prototype", Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
  ["undefined and functions as properties", { a: undefined, b: () => 1, c: null }, { c: null }],
  ["undefined and holes in a list", [undefined, undefined, 1], [null, null, 1]],
  ["a toJSON method", { toJSON: () => ({ a: 1n }) }, { a: "1" }],
  ["a toJSON that gives nothing", { toJSON: () => undefined }, null],
  [
    "a toJSON that gives the object itself",
    {
      a: 1,
      toJSON() {
        return this;
      },
    },
    { a: 1 },
  ],
  ["a toJSON that throws", { toJSON: fail }, "[unreadable: trapped]"],
  ["wrapped primitives", [Object("text"), Object(5), Object(false)], ["text", 5, false]],
  ["a promise", Promise.resolve(1), "[promise]"],
  ["nested promises", { a: [Promise.resolve(1)] }, { a: ["[promise]"] }],
  ["a lone surrogate", "\ud800", "\ud800"],
];

describe("a tool may return anything", () => {
  test.for(table)("%s", ([, value, expected]) => {
    expect(jsonSafe(value)).toStrictEqual(expected);
  });

  test("a revoked Proxy", () => {
    expect(jsonSafe([revoked])).toEqual([expect.stringContaining("[unreadable: ")]);
  });

  test("a __proto__ key sets no prototype", () => {
    const safe = jsonSafe(JSON.parse('{"__proto__":{"admin":true}}')) as Record<string, unknown>;
    expect([safe.admin, Object.getPrototypeOf(safe)]).toEqual([undefined, Object.prototype]);
  });
});

describe("every result is plain JSON", () => {
  const anything = fc.anything({
    withBigInt: true,
    withBoxedValues: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withObjectString: true,
    withSet: true,
    withSparseArray: true,
    withTypedArray: true,
    withUnicodeString: true,
  });

  test("it survives a JSON round trip unchanged", () => {
    const property = fc.property(anything, (value) => {
      const safe = jsonSafe(value);
      expect(JSON.parse(JSON.stringify(safe))).toStrictEqual(safe);
    });
    fc.assert(property, { numRuns: 2000 });
  });

  test("making it safe a second time changes nothing", () => {
    const property = fc.property(anything, (value) => {
      const safe = jsonSafe(value);
      expect(jsonSafe(safe)).toStrictEqual(safe);
    });
    fc.assert(property, { numRuns: 1000 });
  });

  test("a value that is JSON already stays equal", () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false } as never), (value) => {
        const plain = JSON.parse(JSON.stringify(value));
        expect(jsonSafe(plain)).toStrictEqual(plain);
      }),
    );
  });

  test("it stays within its budget, give or take a mark for each level", () => {
    const property = fc.property(anything, fc.nat(300), (value, maxBytes) => {
      const length = Buffer.byteLength(JSON.stringify(jsonSafe(value, { maxBytes })));
      expect(length).toBeLessThan(maxBytes * 6 + 300);
    });
    fc.assert(property, { numRuns: 1000 });
  });
});
