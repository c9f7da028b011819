import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { compileSchema, type DescribedSchema, type OutputOf } from "./schema.ts";

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

const owner = { name: 'the tool "weather"', code: "invalid-tool" } as const;
const compiled = (schema: unknown) => compileSchema(schema, owner);
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

  test("an asynchronous check is awaited", async () => {
    const schema = z.object({ n: z.number().refine(async (n) => n > 1, "too small") });
    expect(await problemsOf(schema, { n: 0 })).toEqual(["n: too small"]);
    expect(await problemsOf(schema, { n: 2 })).toEqual([]);
  });

  test("a promise of another library is awaited", async () => {
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

  test("gives what the check returns", async () => {
    expect(await compiled(own).check({ city: "Paris" })).toEqual({ value: { city: "PARIS" } });
  });

  test("reports what the check throws", async () => {
    expect(await problemsOf(own, {})).toEqual(["say where"]);
  });

  test("awaits a check that returns a promise", async () => {
    const slow = { jsonSchema, validate: async (value: unknown) => own.validate(value) };
    expect(await compiled(slow).check({ city: "Paris" })).toEqual({ value: { city: "PARIS" } });
    expect(await problemsOf(slow, {})).toEqual(["say where"]);
  });

  test("is checked as JSON Schema if it brings no check", async () => {
    expect(await problemsOf({ jsonSchema }, {})).toEqual(["city is missing"]);
  });
});

describe("a value that is no schema is refused, and the error says what to do", () => {
  test.for([null, undefined, "string", 5, { city: "string" }, () => 1])("%s", (schema) => {
    expect(() => compiled(schema)).toThrow('The schema of the tool "weather" is neither a Standard Schema');
  });

  test("a valibot schema that cannot describe itself", () => {
    expect(() => compiled(v.object({}))).toThrow("Wrap it in toStandardJsonSchema()");
  });

  test("a schema that is no JSON, such as one that holds itself", () => {
    const node: Record<string, unknown> = { type: "object" };
    node.items = node;
    expect(() => compiled(node)).toThrow('The schema of the tool "weather" is invalid: it is not JSON.');
    let deep: Record<string, unknown> = { type: "object" };
    for (let depth = 0; depth < 10_000; depth++) deep = { items: deep };
    expect(() => compiled({ jsonSchema: deep })).toThrow("is invalid: it is nested too deeply.");
  });

  test("a schema that has no JSON form", () => {
    const error = expect.objectContaining({ code: "invalid-tool", cause: expect.any(Error) });
    expect(() => compiled(z.object({ when: z.date() }))).toThrow(error);
  });
});

describe("a Standard JSON Schema without a check", () => {
  const described = {
    "~standard": {
      version: 1,
      vendor: "effect",
      jsonSchema: { input: ({ target }: { target: string }) => ({ $schema: target, ...jsonSchema }) },
    },
  } as const;

  test("is checked by its JSON Schema", async () => {
    expect(await compiled(described).check({ city: "Paris" })).toEqual({ value: { city: "Paris" } });
    expect(await problemsOf(described, { city: 5 })).toEqual(["city must be string, not number"]);
    expect(compiled(described).jsonSchema).toEqual(jsonSchema);
  });

  test("may be a function", async () => {
    expect(
      await problemsOf(
        Object.assign(() => 1, described),
        {},
      ),
    ).toEqual(["city is missing"]);
  });

  test("is refused at once if that cannot be checked", () => {
    const input = () => ({ $ref: "https://example.com/schema" });
    const broken = { "~standard": { version: 1, vendor: "effect", jsonSchema: { input } } };
    expect(() => compiled(broken)).toThrow('The schema of the tool "weather" is invalid: "$ref" leads nowhere');
  });
});

test("a schema is copied: the model is shown what is checked, whatever happens to the original", async () => {
  const given = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
  const { jsonSchema: shown, check } = compiled(given);
  Object.assign(given.properties.a, { enum: ["x"] });
  expect(await check({ a: "y" })).toEqual({ value: { a: "y" } });
  expect(shown).toEqual({ type: "object", properties: { a: { type: "string" } }, required: ["a"] });
});

test("every check returns a promise", () => {
  const checks = [...schemas.map(([, schema]) => schema), { jsonSchema, validate: () => 1 }];
  for (const schema of checks) expect(compiled(schema).check({ city: "Paris" })).toBeInstanceOf(Promise);
});

test("the errors of a schema have the code of its owner", () => {
  const output = { name: 'the output of agent "a"', code: "invalid-argument" } as const;
  for (const schema of [5, { type: "strin" }, v.object({}), z.object({ when: z.date() })])
    expect(() => compileSchema(schema, output)).toThrow(expect.objectContaining({ code: "invalid-argument" }));
});

test("the type of the input follows from the schema", () => {
  expectTypeOf<OutputOf<typeof zodSchema>>().toEqualTypeOf<{ city: string; days?: number | undefined }>();
  expectTypeOf<OutputOf<typeof arkSchema>>().toEqualTypeOf<{ city: string; days?: number }>();
  expectTypeOf<OutputOf<typeof valibotSchema>>().toEqualTypeOf<{ city: string; days?: number | undefined }>();
  expectTypeOf<OutputOf<DescribedSchema<{ city: string }>>>().toEqualTypeOf<{ city: string }>();
  expectTypeOf<OutputOf<{ jsonSchema: object; validate: (value: unknown) => 5 }>>().toEqualTypeOf<5>();
  expectTypeOf<OutputOf<{ jsonSchema: object; validate: (value: unknown) => Promise<5> }>>().toEqualTypeOf<5>();
});
