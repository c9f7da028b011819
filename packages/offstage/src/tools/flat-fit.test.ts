import fc from "fast-check";
import { expect, test } from "vitest";
import { flatFit } from "./flat-fit.ts";
import { checkJsonSchema } from "./json-schema.ts";
import { tool } from "./tool.ts";

const type = fc.constantFrom("string", "number", "integer", "boolean");
const name = fc.constantFrom("a", "b", "c", "constructor", "toString", "__proto__");
const field = fc.oneof(
  { weight: 8, arbitrary: fc.record({ type }) },
  { weight: 1, arbitrary: fc.constant({ type: "string", minLength: 2 }) },
  { weight: 1, arbitrary: fc.constant({ type: ["string", "null"] }) },
);
const schema = fc.record(
  {
    type: fc.constantFrom("object", "object", "object", "array"),
    properties: fc.dictionary(name, field),
    required: fc.uniqueArray(name),
    additionalProperties: fc.boolean(),
    description: fc.string(),
  },
  { requiredKeys: ["type", "properties"] },
);
const value = fc.oneof(
  fc.dictionary(name, fc.oneof(fc.string(), fc.double(), fc.integer(), fc.boolean(), fc.constant(null))),
  fc.jsonValue(),
);

test("what a flat schema takes at a glance has no problem under the whole check", () => {
  let taken = 0;
  fc.assert(
    fc.property(schema, value, (given, candidate) => {
      if (!flatFit(given)?.(candidate)) return;
      taken++;
      expect(checkJsonSchema(given, candidate)).toEqual([]);
    }),
    { numRuns: 20_000 },
  );
  expect(taken).toBeGreaterThan(100);
});

test("a call that fits a flat schema is taken at a glance", () => {
  const fits = flatFit({
    type: "object",
    properties: { city: { type: "string", description: "Where" }, days: { type: "integer" } },
    required: ["city"],
    additionalProperties: false,
  });
  expect(fits?.({ city: "Oslo" })).toBe(true);
  expect(fits?.({ city: "Oslo", days: 3 })).toBe(true);
  expect(fits?.({ city: "Oslo", days: 3.5 })).toBe(false);
  expect(fits?.({ city: "Oslo", more: 1 })).toBe(false);
  expect(fits?.({ days: 3 })).toBe(false);
  expect(fits?.(["Oslo"])).toBe(false);
});

test.each([
  ["a bound", { type: "object", properties: { x: { type: "number", minimum: 1 } } }],
  ["a choice", { type: "object", properties: { x: { enum: ["a"] } } }],
  ["a list", { type: "object", properties: { x: { type: "array" } } }],
  ["a reference", { type: "object", properties: { x: { $ref: "#/$defs/x" } } }],
  ["a form for other fields", { type: "object", properties: {}, additionalProperties: { type: "string" } }],
  ["a required field that it does not describe", { type: "object", properties: {}, required: ["x"] }],
  ["a combination", { type: "object", properties: {}, anyOf: [] }],
])("a schema with %s is not flat", (_, given) => {
  expect(flatFit(given)).toBeUndefined();
});

test("a tool checks the schema that it was made with, and shows no other", () => {
  const input = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
  const { schema } = tool({ name: "t", input, execute: () => "" });
  Object.assign(input.properties.a, { enum: ["x"] });
  expect(schema.check({ a: "y" })).toEqual({ value: { a: "y" } });
  expect(schema.jsonSchema).toEqual({ type: "object", properties: { a: { type: "string" } }, required: ["a"] });
});
