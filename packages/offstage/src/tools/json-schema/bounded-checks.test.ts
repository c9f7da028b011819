import { describe, expect, test } from "vitest";
import { compileJsonSchema } from "./compile-json-schema.ts";

type Schema = Record<string, unknown>;

const owner = { name: 'the tool "weather"', code: "invalid-tool" } as const;
const object = (properties: Schema, more: Schema = {}): Schema => ({ type: "object", properties, ...more });

describe("the work is bounded", () => {
  const bomb = `${"a".repeat(60)}!`;
  const inTime = (schema: Schema, value: unknown): readonly string[] => {
    const check = compileJsonSchema(schema, owner);
    const startedAt = performance.now();
    const problems = check(value);
    expect(performance.now() - startedAt).toBeLessThan(2000);
    return problems;
  };

  test.for([
    "^(a+)+$",
    "^([a-zA-Z]+)*$",
    "^(a|aa)+$",
    "^(a|a?)+$",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
    "(.*a){20}$",
    "^(a+)+\\1$",
    "^(a{1,2})+$",
    `^${"a?".repeat(32)}${"a".repeat(32)}$`,
  ])("a pattern that never ends is stopped: %s", (pattern) => {
    const [problem] = inTime(object({ a: { pattern } }), { a: bomb });
    expect(problem).toMatch(/^cannot be checked within 100 ms$|^a must match/);
  });

  test("a pattern for names that never ends is stopped", () => {
    const schema = { patternProperties: { "^(a+)+$": {} } };
    expect(inTime(schema, { [bomb]: 1 })).toEqual(["cannot be checked within 100 ms"]);
  });

  test("a text that a slow pattern matches is fine", () => {
    expect(inTime({ pattern: "^[a-z0-9]+(?:-[a-z0-9]+)*$" }, "a-long-slug-of-many-words")).toEqual([]);
  });

  test("a list that is too long to be compared item by item", () => {
    const list = Array.from({ length: 20_000 }, (_, i) => ({ a: 1, b: 2, i }));
    expect(inTime({ uniqueItems: true }, list)).toEqual(["cannot be checked within 100 ms"]);
  });

  test("forms that contain one another take a time that grows with the value, not with the power of its depth", () => {
    const args = { type: "array", items: { $ref: "#" } };
    const form = (op: string) => ({ properties: { args, op: { const: op } }, required: ["op", "args"] });
    const schema = { type: "object", oneOf: [form("and"), form("or"), form("not"), { required: ["leaf"] }] };
    let value: object = { leaf: 1 };
    for (let depth = 0; depth < 60; depth++) value = { args: [value], op: depth % 2 === 0 ? "and" : "or" };
    expect(inTime(schema, value)).toEqual([]);
    expect(inTime(schema, { op: "and", args: [value, { op: "xor", args: [] }] })).toHaveLength(1);
  });

  test("forms that no field tells apart are stopped", () => {
    const form = { properties: { next: { $ref: "#" } } };
    let value: object = { end: 1 };
    for (let depth = 0; depth < 100; depth++) value = { next: value };
    expect(inTime({ anyOf: [form, form] }, value)).toEqual(["cannot be checked within 100 ms"]);
  });

  test.for([
    ["a reference", object({ next: { $ref: "#" } }), 192],
    ["forms within forms", { allOf: [{ anyOf: [{ oneOf: [object({ next: { $ref: "#" } })] }] }] }, 76],
    ["no reference", object({}), 384],
  ] as const)("the depth of a value is limited by what it takes to check it: %s", ([, schema, limit]) => {
    const nested = (levels: number): object => {
      let value: object = {};
      for (let depth = 1; depth < levels; depth++) value = { next: value };
      return value;
    };
    expect(inTime(schema, nested(limit))).toEqual([]);
    expect(inTime(schema, nested(limit + 1))).toEqual([`is nested more than ${limit} levels deep`]);
    expect(inTime(schema, nested(100_000))).toEqual([`is nested more than ${limit} levels deep`]);
  });
});
