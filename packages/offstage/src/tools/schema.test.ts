import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { compileSchema, type OutputOf } from "./schema.ts";

const arkSchema = type({ city: "string", "days?": "number >= 1" });
const zodSchema = z.object({ city: z.string(), days: z.number().min(1).optional() });
const valibotSchema = toStandardJsonSchema(
  v.object({ city: v.string(), days: v.optional(v.pipe(v.number(), v.minValue(1))) }),
);
const jsonSchema = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "number", minimum: 1 } },
  required: ["city"],
};

const schemas: readonly [vendor: string, schema: unknown][] = [
  ["zod", zodSchema],
  ["arktype", arkSchema],
  ["valibot", valibotSchema],
  ["JSON Schema", jsonSchema],
];

const compiled = (schema: unknown) => compileSchema(schema, 'the tool "weather"');
const problemsOf = async (schema: unknown, value: unknown): Promise<readonly string[]> => {
  const checked = await compiled(schema).check(value);
  return "problems" in checked ? checked.problems : [];
};

describe.for(schemas)("a schema of %s", ([, schema]) => {
  test("shows the model JSON Schema", () => {
    const shown = compiled(schema).jsonSchema;
    expect(shown).toMatchObject(jsonSchema);
    expect(shown).not.toHaveProperty("$schema");
    expect(JSON.parse(JSON.stringify(shown))).toEqual(shown);
  });

  test("gives a value that fits", async () => {
    expect(await compiled(schema).check({ city: "Paris", days: 2 })).toEqual({ value: { city: "Paris", days: 2 } });
  });

  test("names the place of what does not fit", async () => {
    expect((await problemsOf(schema, { city: 5 })).join()).toContain("city");
    expect((await problemsOf(schema, { city: "Paris", days: 0 })).join()).toContain("days");
  });
});

describe("what a check gives is what the schema makes of the value", () => {
  test("defaults and transformations apply", async () => {
    const schema = z.object({ n: z.string().transform(Number), unit: z.string().default("km") });
    expect(await compiled(schema).check({ n: "5" })).toEqual({ value: { n: 5, unit: "km" } });
  });

  test("the model is shown the input of a transformation", () => {
    const shown = compiled(z.object({ n: z.string().transform(Number) })).jsonSchema;
    expect(shown).toMatchObject({ properties: { n: { type: "string" } } });
  });

  test("an asynchronous check is waited for", async () => {
    const schema = z.object({ n: z.number().refine(async (n) => n > 1, "too small") });
    expect(await problemsOf(schema, { n: 0 })).toEqual(["n: too small"]);
    expect(await problemsOf(schema, { n: 2 })).toEqual([]);
  });

  test("a promise of another library is waited for", async () => {
    const issues = [{ message: "no" }];
    // biome-ignore lint/suspicious/noThenProperty: what makes it a promise of another library
    const thenable = { then: (resolve: (result: unknown) => void) => resolve({ issues }) };
    const jsonSchema = { input: () => ({ type: "object" }), output: () => ({ type: "object" }) };
    const schema = { "~standard": { version: 1, vendor: "other", validate: () => thenable, jsonSchema } };
    expect(await problemsOf(schema, {})).toEqual(["no"]);
  });

  test("a place is written with dots, items of lists included", async () => {
    const schema = z.object({ stops: z.array(z.object({ city: z.string("no city") })) });
    expect(await problemsOf(schema, { stops: [{ city: "a" }, {}] })).toEqual(["stops.1.city: no city"]);
    const valibot = toStandardJsonSchema(v.object({ stops: v.array(v.object({ city: v.string("no city") })) }));
    expect(await problemsOf(valibot, { stops: [{ city: 5 }] })).toEqual(["stops.0.city: no city"]);
  });
});

describe("JSON Schema with a check of one's own", () => {
  const own = {
    jsonSchema,
    validate(value: unknown): { city: string } {
      const { city } = value as { city?: unknown };
      if (typeof city !== "string") throw new Error("say where");
      return { city: city.toUpperCase() };
    },
  };

  test("gives what the check gives", async () => {
    expect(await compiled(own).check({ city: "Paris" })).toEqual({ value: { city: "PARIS" } });
  });

  test("reports what the check throws", async () => {
    expect(await problemsOf(own, {})).toEqual(["say where"]);
  });

  test("waits for a check that gives a promise", async () => {
    const slow = { jsonSchema, validate: async (value: unknown) => own.validate(value) };
    expect(await compiled(slow).check({ city: "Paris" })).toEqual({ value: { city: "PARIS" } });
    expect(await problemsOf(slow, {})).toEqual(["say where"]);
  });

  test("falls back to ours where it brings none", async () => {
    expect(await problemsOf({ jsonSchema }, {})).toEqual(["city is missing"]);
  });
});

describe("what is no schema is refused, and the error says what to do", () => {
  test.for([null, undefined, "string", 5, { city: "string" }, () => 1])("%s", (schema) => {
    expect(() => compiled(schema)).toThrow('The schema of the tool "weather" is neither a Standard Schema');
  });

  test("a valibot schema that cannot describe itself", () => {
    expect(() => compiled(v.object({}))).toThrow("Wrap it in toStandardJsonSchema()");
  });

  test("a schema that has no JSON form", () => {
    const error = expect.objectContaining({ code: "invalid-tool", cause: expect.any(Error) });
    expect(() => compiled(z.object({ when: z.date() }))).toThrow(error);
  });
});

test("the type of the input follows from the schema", () => {
  expectTypeOf<OutputOf<typeof zodSchema>>().toEqualTypeOf<{ city: string; days?: number | undefined }>();
  expectTypeOf<OutputOf<typeof arkSchema>>().toEqualTypeOf<{ city: string; days?: number }>();
  expectTypeOf<OutputOf<typeof valibotSchema>>().toEqualTypeOf<{ city: string; days?: number | undefined }>();
  expectTypeOf<OutputOf<{ jsonSchema: object; validate: (value: unknown) => 5 }>>().toEqualTypeOf<5>();
  expectTypeOf<OutputOf<{ jsonSchema: object; validate: (value: unknown) => Promise<5> }>>().toEqualTypeOf<5>();
});
