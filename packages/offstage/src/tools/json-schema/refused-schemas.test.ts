import { describe, expect, test } from "vitest";
import { compileJsonSchema } from "./compile-json-schema.ts";

type Schema = Record<string, unknown>;

const owner = { name: 'the tool "weather"', code: "invalid-tool" } as const;
const problemsIn = (schema: Schema, value: unknown) => compileJsonSchema(schema, owner)(value);
const object = (properties: Schema, more: Schema = {}): Schema => ({ type: "object", properties, ...more });

describe("a schema that cannot be checked is refused when it is defined", () => {
  test.for([
    [
      "a reference elsewhere",
      { $ref: "https://example.com/schema.json" },
      '"$ref" leads nowhere: "https://example.com/schema.json"',
    ],
    ["a reference to nothing", object({ a: { $ref: "#/$defs/missing" } }), '"$ref" leads nowhere: "#/$defs/missing"'],
    ["an anchor that is nowhere", { items: { $ref: "#anchor" } }, '"$ref" leads nowhere: "#anchor"'],
    ["a reference to itself", { $ref: "#" }, "its references go in a circle that never enters the value"],
    [
      "references that go in a circle",
      {
        $ref: "#/$defs/a",
        $defs: { a: { allOf: [{ $ref: "#/$defs/b" }] }, b: { anyOf: [{}, { $ref: "#/$defs/a" }] } },
      },
      "its references go in a circle that never enters the value",
    ],
    ["a dynamic reference", { $dynamicRef: "#node" }, '"$dynamicRef": the keyword is not supported; use "$ref"'],
    ["a malformed reference", { $ref: 5 }, 'at "$ref": it must be text; found 5.'],
    [
      "a pattern that is none",
      object({ a: { pattern: "(" } }),
      'at "properties.a.pattern": "(" is not a regular expression.',
    ],
    [
      "a pattern that takes long to compile",
      { pattern: "a?".repeat(33) },
      "the pattern has more than 32 optional parts",
    ],
    ["a pattern of another language", { pattern: "^a\\-b\\Z" }, "is not a regular expression"],
    ["a pattern of names that is none", { patternProperties: { "[": {} } }, '"[" is not a regular expression'],
    [
      "an unknown type",
      object({ a: { type: "strin" } }),
      'at "properties.a.type": unknown type "strin". Use string, number',
    ],
    ["an unknown type in a list", { items: { anyOf: [{ type: ["string", "nul"] }] } }, 'unknown type "nul"'],
    [
      "required as a flag",
      object({ a: { required: true } }),
      'at "properties.a.required": it must be a list of names; found true.',
    ],
    ["a bound as text", { minimum: "5" }, 'at "minimum": it must be a number; found "5".'],
    ["a length below zero", { maxLength: -1 }, 'at "maxLength": it must be a whole number of at least 0; found -1.'],
    ["properties as a list", { properties: [] }, 'at "properties": it must be an object; found a list.'],
    ["forms that are no list", { anyOf: {} }, 'at "anyOf": it must be a list of schemas; found object.'],
    ["a part that is no schema", object({ a: "string" }), 'at "properties.a": it must be a schema; found "string".'],
    [
      "two parts with one id",
      { $defs: { a: { $id: "x:a" }, b: { $id: "x:a" } }, type: "object" },
      "Duplicate schema URI",
    ],
  ] as const)("%s", ([, schema, sentence]) => {
    const define = () => compileJsonSchema(schema, owner);
    expect(define).toThrow(sentence);
    expect(define).toThrow(expect.objectContaining({ code: "invalid-tool" }));
    expect(define).toThrow(/^The schema of the tool "weather" is invalid/);
  });

  test("a schema nested without end", () => {
    let deep: Schema = {};
    for (let depth = 0; depth < 10_000; depth++) deep = { items: deep };
    expect(() => compileJsonSchema(deep, owner)).toThrow("it is nested too deeply");
  });

  test("ids within ids, which would double the work with every level", () => {
    let deep: Schema = {};
    for (let depth = 0; depth < 30; depth++) deep = { $id: `x:${depth}`, items: deep };
    expect(() => compileJsonSchema(deep, owner)).toThrow("it is nested too deeply");
  });

  test("a chain of references without end", () => {
    const $defs = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`d${i}`, { $ref: `#/$defs/d${i + 1}` }]));
    const schema = { $ref: "#/$defs/d0", $defs: { ...$defs, d5000: {} } };
    expect(() => compileJsonSchema(schema, owner)).toThrow("a chain of references has more than 64 links");
  });

  test("what stands in places that are no schema does not matter", () => {
    const schema = {
      type: "object",
      default: { $ref: "x" },
      examples: [{ type: "dog" }],
      "x-note": { required: true },
    };
    expect(problemsIn(schema, {})).toEqual([]);
  });

  test("a definition may have the name of an annotation", () => {
    const schema = object(
      { a: { $ref: "#/$defs/default" } },
      { default: { type: "dog" }, example: { required: true } },
    );
    const $defs = { default: { type: "string" }, example: { $ref: "#/$defs/example/items" } };
    expect(problemsIn({ ...schema, $defs }, { a: 5 })).toEqual(["a must be string, not number"]);
  });

  test("names of properties are no keywords", () => {
    expect(problemsIn(object({ $ref: { type: "string" }, type: {}, required: {} }), { $ref: 5 })).toEqual([
      "$ref must be string, not number",
    ]);
  });
});
