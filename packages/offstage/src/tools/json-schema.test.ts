import { describe, expect, test } from "vitest";
import { checkJsonSchema } from "./json-schema.ts";

type Schema = Record<string, unknown>;
type Row = readonly [what: string, schema: Schema, value: unknown, problems: readonly string[]];

const object = (properties: Schema, more: Schema = {}): Schema => ({ type: "object", properties, ...more });

const rows: readonly Row[] = [
  ["a type that fits", { type: "string" }, "x", []],
  ["a type that does not", { type: "string" }, 5, ["must be string, not number"]],
  ["null is no object", { type: "object" }, null, ["must be object, not null"]],
  ["a list is no object", { type: "object" }, [], ["must be object, not array"]],
  ["an integer", { type: "integer" }, 5, []],
  ["a fraction as integer", { type: "integer" }, 5.5, ["must be integer, not number"]],
  ["an integer is a number", { type: "number" }, 5, []],
  ["several types", { type: ["string", "null"] }, null, []],
  ["none of several types", { type: ["string", "null"] }, true, ["must be string or null, not boolean"]],
  ["one of an enum", { enum: ["a", 1, null] }, null, []],
  ["none of an enum", { enum: ["a", 1] }, "b", ['must be "a" or 1, not "b"']],
  ["a const", { const: { a: [1] } }, { a: [1] }, []],
  ["another than the const", { const: "x" }, "y", ['must be "x", not "y"']],
  ["a missing property", object({ a: {} }, { required: ["a"] }), {}, ["a is missing"]],
  ["a property that only the prototype has", object({}, { required: ["toString"] }), {}, ["toString is missing"]],
  [
    "a nested place",
    object({ a: object({ b: { type: "string" } }) }),
    { a: { b: 1 } },
    ["a.b must be string, not number"],
  ],
  [
    "a place in a list",
    { items: object({ n: { type: "number" } }) },
    [{ n: 1 }, { n: "x" }],
    ["[1].n must be number, not string"],
  ],
  ["a property too many", object({ a: {} }, { additionalProperties: false }), { a: 1, b: 2 }, ["b is not allowed"]],
  [
    "further properties of a kind",
    object({}, { additionalProperties: { type: "number" } }),
    { b: "x" },
    ["b must be number, not string"],
  ],
  ["further properties where nothing forbids them", object({ a: {} }), { b: 1 }, []],
  [
    "a property that a pattern allows",
    { patternProperties: { "^x-": { type: "string" } }, additionalProperties: false },
    { "x-a": "1" },
    [],
  ],
  [
    "a property that a pattern constrains",
    { patternProperties: { "^x-": { type: "string" } } },
    { "x-a": 1 },
    ["x-a must be string, not number"],
  ],
  ["too small", { minimum: 3 }, 2, ["must be at least 3"]],
  ["too great", { maximum: 3 }, 4, ["must be at most 3"]],
  ["the excluded minimum", { exclusiveMinimum: 3 }, 3, ["must be more than 3"]],
  ["the excluded maximum", { exclusiveMaximum: 3 }, 3, ["must be less than 3"]],
  ["a multiple", { multipleOf: 3 }, 9, []],
  ["a multiple that floating point has a little off", { multipleOf: 0.01 }, 19.99, []],
  ["no multiple", { multipleOf: 0.01 }, 19.995, ["must be a multiple of 0.01"]],
  ["a text too short", { minLength: 2 }, "🙂", ["must have at least 2 characters"]],
  ["a text too long", { maxLength: 1 }, "ab", ["must have at most 1 characters"]],
  ["a length counted by character", { maxLength: 1 }, "🙂", []],
  ["a pattern", { pattern: "^a+$" }, "aaa", []],
  ["a pattern that does not match", { pattern: "^\\p{L}+$" }, "a1", ["must match ^\\p{L}+$"]],
  ["a pattern that only older engines take", { pattern: "^[\\w-.]+$" }, "a-b.c", []],
  ["a pattern that no engine takes", { pattern: "(" }, "x", []],
  ["a list too short", { minItems: 1 }, [], ["must have at least 1 items"]],
  ["a list too long", { maxItems: 1 }, [1, 2], ["must have at most 1 items"]],
  ["a tuple", { prefixItems: [{ type: "string" }, { type: "number" }], items: false }, ["a", 1], []],
  ["a tuple with an item too many", { prefixItems: [{}], items: false }, ["a", 1], ["[1] is not allowed"]],
  [
    "a tuple of draft 7",
    { items: [{ type: "string" }], additionalItems: { type: "number" } },
    ["a", "b"],
    ["[1] must be number, not string"],
  ],
  ["all of several", { allOf: [{ minimum: 1 }, { maximum: 3 }] }, 5, ["must be at most 3"]],
  ["any of several", { anyOf: [{ type: "string" }, { type: "number" }] }, 5, []],
  ["none of several", { anyOf: [{ type: "string" }, { type: "number" }] }, true, ["fits none of the allowed forms"]],
  ["one of several", { oneOf: [{ minimum: 5 }, { maximum: 3 }] }, 2, []],
  [
    "two where one is asked for",
    { oneOf: [{ minimum: 1 }, { minimum: 2 }] },
    5,
    ["fits 2 of the allowed forms instead of one"],
  ],
  ["a boolean schema", object({ a: true, b: false }), { a: 1, b: 2 }, ["b is not allowed"]],
  ["a keyword we do not know", { unevaluatedProperties: false, shiny: 1 }, { a: 1 }, []],
];

test.for(rows)("%s", ([, schema, value, problems]) => {
  expect(checkJsonSchema(schema, value)).toEqual(problems);
});

describe("references", () => {
  const tree = {
    $defs: { node: object({ child: { $ref: "#/$defs/node" }, name: { type: "string" } }) },
    $ref: "#/$defs/node",
  };

  test("a local one is followed, also in a circle", () => {
    expect(checkJsonSchema(tree, { child: { child: { name: 5 } } })).toEqual([
      "child.child.name must be string, not number",
    ]);
  });

  test("the root can be meant", () => {
    const schema = object({ next: { $ref: "#" } }, { additionalProperties: false });
    expect(checkJsonSchema(schema, { next: { next: { x: 1 } } })).toEqual(["next.next.x is not allowed"]);
  });

  test("escaped names are found", () => {
    const schema = { $ref: "#/definitions/a~1b%20c", definitions: { "a/b c": { type: "number" } } };
    expect(checkJsonSchema(schema, "x")).toEqual(["must be number, not string"]);
  });

  test.for(["https://example.com/schema.json", "#anchor", "#/$defs/missing", "other.json"])(
    "one that cannot be followed constrains nothing: %s",
    ($ref) => {
      expect(checkJsonSchema(object({ a: { $ref } }, { additionalProperties: false }), { a: 1 })).toEqual([]);
    },
  );
});

test("forms that contain one another are checked in a time that grows with the value, not with the power of its depth", () => {
  const args = { type: "array", items: { $ref: "#" } };
  const form = (op: string) => ({ properties: { op: { const: op }, args }, required: ["op", "args"] });
  const schema = { type: "object", oneOf: [form("and"), form("or"), form("not"), { required: ["leaf"] }] };
  let value: object = { leaf: 1 };
  for (let depth = 0; depth < 200; depth++) value = { args: [value], op: depth % 2 === 0 ? "and" : "or" };
  expect(checkJsonSchema(schema, value)).toEqual([]);
  expect(checkJsonSchema(schema, { op: "and", args: [value, { op: "xor", args: [] }] })).toHaveLength(1);
});

test("every problem is reported, not only the first", () => {
  const schema = object({ a: { type: "string" }, b: { minimum: 5 } }, { required: ["a", "b", "c"] });
  expect(checkJsonSchema(schema, { a: 1, b: 2 })).toEqual([
    "c is missing",
    "a must be string, not number",
    "b must be at least 5",
  ]);
});
