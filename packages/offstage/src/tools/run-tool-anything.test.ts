// A tool may return anything: each becomes one bounded result that is JSON, whatever it was (R2).
import fc from "fast-check";
import { expect, test } from "vitest";
import { givenBack } from "../../test/support/build-tool-run.ts";

const circular: unknown[] = [];
circular.push(circular);

function* endless(): Generator<number> {
  while (true) yield 1;
}

async function* endlessly(): AsyncGenerator<number> {
  while (true) yield 1;
}

const hostile = new Proxy(
  {},
  {
    get: () => {
      throw new Error("trapped");
    },
  },
);

test.for([
  ["undefined", undefined, "null"],
  ["a BigInt", 5n, "5"],
  ["a Map", new Map([["a", 1]]), '{"a":1}'],
  ["a Set", new Set([1]), "[1]"],
  ["a circle", circular, '["[circular]"]'],
  ["a symbol", Symbol("s"), "[symbol]"],
  ["a function", () => 1, "[function]"],
  ["a Date", new Date(0), "1970-01-01T00:00:00.000Z"],
  ["an Error", new Error("no"), '{"name":"Error","message":"no"}'],
  ["a Buffer", Buffer.from("hi"), '{"bytes":2,"base64":"aGk="}'],
  ["a promise of a promise", Promise.resolve(Promise.resolve(1)), "1"],
  ["a promise inside", { a: Promise.resolve(1) }, '{"a":"[promise]"}'],
  ["a Proxy that throws", hostile, 'The tool "search" failed: trapped'],
  ["an infinite iterator", endless(), /^\[1,1,.*,"\[clipped\]"\]$/],
  ["an infinite async iterator", endlessly(), /^\[1,1,.*,"\[clipped\]"\]$/],
  ["100 MB", "x".repeat(100_000_000), /x\n\[clipped, \d+ bytes\]$/],
] as const)("%s", async ([, value, expected]) => {
  const { content, output, isError } = await givenBack(value);
  expect(content).toMatch(expected);
  expect(isError).toBe(value === hostile);
  expect(Buffer.byteLength(content as string)).toBeLessThanOrEqual(65_536);
  expect(JSON.parse(JSON.stringify(output))).toStrictEqual(output);
});

test("whatever it is, the result survives a JSON round trip unchanged", async () => {
  const property = fc.asyncProperty(fc.anything({ withBigInt: true, withMap: true, withSet: true }), async (value) => {
    const { durationMs: _, ...result } = await givenBack(value);
    expect(JSON.parse(JSON.stringify(result))).toStrictEqual(result);
  });
  await fc.assert(property, { numRuns: 500 });
});
