import { describe, expect, test } from "vitest";
import { compileJsonSchema } from "./compile-json-schema.ts";

type Schema = Record<string, unknown>;
type Row = readonly [what: string, schema: Schema, value: unknown, problems: readonly string[]];

const owner = { name: 'the tool "weather"', code: "invalid-tool" } as const;
const problemsIn = (schema: Schema, value: unknown) => compileJsonSchema(schema, owner)(value);
const object = (properties: Schema, more: Schema = {}): Schema => ({ type: "object", properties, ...more });

const values: readonly Row[] = [
  ["a type that fits", { type: "string" }, "x", []],
  ["a type that does not fit", { type: "string" }, 5, ["must be string, not number"]],
  ["null is no object", { type: "object" }, null, ["must be object, not null"]],
  ["a list is no object", { type: "object" }, [], ["must be object, not array"]],
  ["an integer", { type: "integer" }, 5, []],
  ["a fraction as integer", { type: "integer" }, 5.5, ["must be integer, not number"]],
  ["an integer is a number", { type: "number" }, 5, []],
  ["several types", { type: ["string", "null"] }, null, []],
  ["none of several types", { type: ["string", "null"] }, true, ["must be string or null, not boolean"]],
  ["a wrong type is one problem", { type: "string", enum: ["a"] }, 5, ["must be string, not number"]],
  ["one of an enum", { enum: ["a", 1, null] }, null, []],
  ["none of an enum", { enum: ["a", 1] }, "b", ['must be "a" or 1, not "b"']],
  ["an object of an enum, its keys in another order", { enum: [{ a: 1, b: 2 }] }, { b: 2, a: 1 }, []],
  ["a const", { const: { a: [1] } }, { a: [1] }, []],
  ["a const, its keys in another order", { const: { a: 1, b: { c: 2, d: 3 } } }, { b: { d: 3, c: 2 }, a: 1 }, []],
  ["a list of a const, its items in another order", { const: [1, 2] }, [2, 1], ["must be [1,2], not [2,1]"]],
  ["another value than the const", { const: "x" }, "y", ['must be "x", not "y"']],
  ["the const null", { const: null }, 0, ["must be null, not 0"]],
];

const combinations: readonly Row[] = [
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
  ["a form that is excluded", { not: { type: "string" } }, "x", ['must not match {"type":"string"}']],
  ["another form than the excluded one", { not: { type: "string" } }, 5, []],
  // biome-ignore-start lint/suspicious/noThenProperty: a keyword of JSON Schema
  ["if and then", { if: { required: ["a"] }, then: { required: ["b"] } }, { a: 1 }, ["b is missing"]],
  ["if and else", { if: { required: ["a"] }, else: { required: ["b"] } }, {}, ["b is missing"]],
  ["then without its condition", { if: { required: ["a"] }, then: { required: ["b"] } }, {}, []],
  // biome-ignore-end lint/suspicious/noThenProperty: a keyword of JSON Schema
  ["a boolean schema", object({ a: true, b: false }), { a: 1, b: 2 }, ["b is not allowed"]],
  ["a form that nothing fits", { anyOf: [false] }, 1, ["fits none of the allowed forms"]],
];

const objects: readonly Row[] = [
  ["a missing property", object({ a: {} }, { required: ["a"] }), {}, ["a is missing"]],
  ["a property that only the prototype has", object({}, { required: ["toString"] }), {}, ["toString is missing"]],
  [
    "properties of any name",
    object({ "a/b~c %": { type: "number" } }),
    { "a/b~c %": "" },
    ["a/b~c % must be number, not string"],
  ],
  [
    "a property called __proto__",
    { additionalProperties: false },
    JSON.parse('{"__proto__":1}'),
    ["__proto__ is not allowed"],
  ],
  [
    "a nested place",
    object({ a: object({ b: { type: "string" } }) }),
    { a: { b: 1 } },
    ["a.b must be string, not number"],
  ],
  ["a property too many", object({ a: {} }, { additionalProperties: false }), { a: 1, b: 2 }, ["b is not allowed"]],
  [
    "further properties of a kind",
    object({}, { additionalProperties: { type: "number" } }),
    { b: "x" },
    ["b must be number, not string"],
  ],
  ["further properties, if nothing forbids them", object({ a: {} }), { b: 1 }, []],
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
  ["too few properties", { minProperties: 1 }, {}, ["must have at least 1 properties"]],
  ["too many properties", { maxProperties: 1 }, { a: 1, b: 2 }, ["must have at most 1 properties"]],
  [
    "a name that is not allowed",
    { propertyNames: { maxLength: 2 } },
    { abc: 1 },
    ['has a property name that is not allowed: "abc"'],
  ],
  ["a property that another asks for", { dependentRequired: { a: ["b"] } }, { a: 1 }, ["b is missing: it goes with a"]],
  ["the same, as draft 7 has it", { dependencies: { a: ["b"] } }, { a: 1 }, ["b is missing: it goes with a"]],
  ["a schema that a property asks for", { dependentSchemas: { a: { required: ["b"] } } }, { a: 1 }, ["b is missing"]],
  ["the same, as draft 7 has it", { dependencies: { a: { required: ["b"] } } }, { a: 1 }, ["b is missing"]],
  [
    "a property that no schema looked at",
    { allOf: [object({ a: {} })], unevaluatedProperties: false },
    { a: 1, b: 2 },
    ["b is not allowed"],
  ],
];

const lists: readonly Row[] = [
  [
    "a place in a list",
    { items: object({ n: { type: "number" } }) },
    [{ n: 1 }, { n: "x" }],
    ["[1].n must be number, not string"],
  ],
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
  [
    "equal items",
    { uniqueItems: true },
    [1, { a: 1, b: 2 }, { b: 2, a: 1 }],
    ["must have no equal items; [1] and [2] are equal"],
  ],
  ["no equal items", { uniqueItems: true }, [1, "1", true, [1]], []],
  ["an item that is asked for", { contains: { const: 5 } }, [1, 5], []],
  ["no such item", { contains: { const: 5 } }, [1], ['must contain an item that matches {"const":5}']],
  [
    "too few such items",
    { contains: { const: 5 }, minContains: 2 },
    [5, 1],
    ['must contain at least 2 items that match {"const":5}'],
  ],
  [
    "too many such items",
    { contains: { const: 5 }, maxContains: 1 },
    [5, 5],
    ['must contain at most 1 items that match {"const":5}'],
  ],
  ["an item that no schema looked at", { prefixItems: [{}], unevaluatedItems: false }, [1, 2], ["[1] is not allowed"]],
];

const numbersAndTexts: readonly Row[] = [
  ["too small", { minimum: 3 }, 2, ["must be at least 3"]],
  ["too great", { maximum: 3 }, 4, ["must be at most 3"]],
  ["the excluded minimum", { exclusiveMinimum: 3 }, 3, ["must be more than 3"]],
  ["the excluded maximum", { exclusiveMaximum: 3 }, 3, ["must be less than 3"]],
  ["the excluded minimum of draft 4", { minimum: 3, exclusiveMinimum: true }, 3, ["must be more than 3"]],
  ["an excluded maximum that is off", { maximum: 3, exclusiveMaximum: false }, 3, []],
  ["a multiple", { multipleOf: 3 }, 9, []],
  ["a multiple that floating point has a little off", { multipleOf: 0.01 }, 19.99, []],
  ["no multiple", { multipleOf: 0.01 }, 19.995, ["must be a multiple of 0.01"]],
  ["a text too short", { minLength: 2 }, "🙂", ["must have at least 2 characters"]],
  ["a text too long", { maxLength: 1 }, "ab", ["must have at most 1 characters"]],
  ["a length counted by character", { maxLength: 1 }, "🙂", []],
  ["a pattern", { pattern: "^a+$" }, "aaa", []],
  ["a pattern that does not match", { pattern: "^\\p{L}+$" }, "a1", ["must match ^\\p{L}+$"]],
  ["a pattern that only older engines take", { pattern: "^[\\w-.]+\\-\\@{x}$" }, "a-b.c-@{x}", []],
  ["a keyword that no draft has", { shiny: 1 }, 5, []],
  ["a format is a hint, not a constraint", { format: "email" }, "nobody", []],
];

const dialects = {
  "draft 7": "http://json-schema.org/draft-07/schema#",
  "2020-12": "https://json-schema.org/draft/2020-12/schema",
};

describe.for(Object.entries(dialects))("of %s", ([, $schema]) => {
  test.for([...values, ...combinations, ...objects, ...lists, ...numbersAndTexts])(
    "%s",
    ([, schema, value, problems]) => {
      expect(problemsIn({ $schema, ...schema }, value)).toEqual(problems);
    },
  );
});

describe("references", () => {
  const tree = {
    $defs: { node: object({ child: { $ref: "#/$defs/node" }, name: { type: "string" } }) },
    $ref: "#/$defs/node",
  };

  test("a local one is followed, also in a circle", () => {
    expect(problemsIn(tree, { child: { child: { name: 5 } } })).toEqual([
      "child.child.name must be string, not number",
    ]);
  });

  test("two schemas may refer to each other", () => {
    const list = { type: "array", items: { $ref: "#/$defs/node" } };
    const schema = { $ref: "#/$defs/node", $defs: { node: object({ children: { $ref: "#/$defs/list" } }), list } };
    expect(problemsIn(schema, { children: [{ children: [{}] }] })).toEqual([]);
    expect(problemsIn(schema, { children: [{ children: [5] }] })).toEqual([
      "children[0].children[0] must be object, not number",
    ]);
  });

  test("the root can be meant", () => {
    const schema = object({ next: { $ref: "#" } }, { additionalProperties: false });
    expect(problemsIn(schema, { next: { next: { x: 1 } } })).toEqual(["next.next.x is not allowed"]);
  });

  test("escaped names are found", () => {
    const schema = { $ref: "#/definitions/a~1b%20c", definitions: { "a/b c": { type: "number" } } };
    expect(problemsIn(schema, "x")).toEqual(["must be number, not string"]);
  });

  test("names, ids and places that JSON Schema does not know are found", () => {
    const schemas = { User: { type: "string" } };
    expect(problemsIn({ $ref: "#/components/schemas/User", components: { schemas } }, 5)).toHaveLength(1);
    expect(problemsIn({ $ref: "#user", $defs: { user: { $anchor: "user", type: "string" } } }, 5)).toHaveLength(1);
    const $id = "https://example.com/user";
    expect(problemsIn({ $ref: $id, $defs: { user: { $id, type: "string" } } }, 5)).toHaveLength(1);
  });

  test("keywords beside one constrain as well, except in draft 7, which ignores them", () => {
    const schema = { $ref: "#/definitions/text", maxLength: 2, definitions: { text: { type: "string" } } };
    expect(problemsIn(schema, "abc")).toEqual(["must have at most 2 characters"]);
    expect(problemsIn({ $schema: dialects["draft 7"], ...schema }, "abc")).toEqual([]);
  });
});

test("a frozen schema can be checked, and no schema is changed", () => {
  const freeze = <T extends object>(value: T): T => {
    for (const each of Object.values(value)) if (typeof each === "object" && each !== null) freeze(each);
    return Object.freeze(value);
  };
  const schema = freeze(object({ a: { $ref: "#/$defs/a" } }, { $defs: { a: { type: "string" } } }));
  const before = JSON.stringify(schema);
  expect(problemsIn(schema, { a: 5 })).toEqual(["a must be string, not number"]);
  expect(Object.getOwnPropertyNames(schema.properties)).toEqual(["a"]);
  expect(JSON.stringify(schema)).toBe(before);
});

describe("problems are told", () => {
  const schema = object({ a: { type: "string" }, b: { minimum: 5 } }, { required: ["a", "b", "c"] });

  test("all of them, not only the first", () => {
    const problems = ["c is missing", "a must be string, not number", "b must be at least 5"];
    expect(problemsIn(schema, { a: 1, b: 2 })).toEqual(problems);
    const withPattern = { ...schema, patternProperties: { "^(x+)+$": {} } };
    expect(problemsIn(withPattern, { a: 1, b: 2 })).toEqual(problems);
  });

  test("twenty at most, and how many more there are", () => {
    const problems = problemsIn(
      { items: { type: "string" } },
      Array.from({ length: 100 }, (_, i) => i),
    );
    expect(problems).toHaveLength(20);
    expect(problems.at(-1)).toBe("and 81 more problems");
  });

  test("with long values cut", () => {
    const [problem = ""] = problemsIn({ enum: ["a"] }, "x".repeat(100_000));
    expect(problem.length).toBeLessThan(300);
  });

  test("once each", () => {
    const required = { required: ["a"] };
    expect(problemsIn({ allOf: [required, required] }, {})).toEqual(["a is missing"]);
  });

  test("in the same words every time", () => {
    const check = compileJsonSchema({ ...schema, uniqueItems: true }, owner);
    const first = check({ b: 1 });
    for (let i = 0; i < 5; i++) expect(check({ b: 1 })).toEqual(first);
  });
});

test("a keyword that is null counts as left out, and a const that is null constrains", () => {
  const check = compileJsonSchema({ type: "object", properties: { a: { const: null } }, required: null }, owner);
  expect(check({})).toEqual([]);
  expect(check({ a: null })).toEqual([]);
  expect(check({ a: 1 })).toHaveLength(1);
});
