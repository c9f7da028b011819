import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PartialJson } from "./partial-json.ts";

/** The value of a text that is cut off where it ends. */
function valueSoFar(text: string): unknown {
  const reader = new PartialJson();
  reader.add(text);
  return reader.take({ isLast: true })?.value;
}

function read(pieces: readonly string[]): unknown[] {
  const reader = new PartialJson();
  const values: unknown[] = [];
  for (const piece of pieces) {
    reader.add(piece);
    const taken = reader.take();
    if (taken) values.push(taken.value);
  }
  reader.end();
  const last = reader.take({ isLast: true });
  return last ? [...values, last.value] : values;
}

function isPrefixOf(part: unknown, whole: unknown): boolean {
  if (typeof part === "string" && typeof whole === "string") return whole.startsWith(part);
  if (Array.isArray(part) && Array.isArray(whole)) return areFirst(Object.entries(part), Object.entries(whole));
  if (isRecord(part) && isRecord(whole)) return areFirst(entriesOf(part), entriesOf(whole));
  return Object.is(part, whole);
}

// All entries but the last are complete.
function areFirst(part: [string, unknown][], whole: [string, unknown][]): boolean {
  const places = new Map(whole);
  return part.every(([key, value], index) => {
    if (!places.has(key)) return false;
    const isOpen = index === part.length - 1 || typeof value === "object" || typeof value === "string";
    return isOpen ? isPrefixOf(value, places.get(key)) : Object.is(value, places.get(key));
  });
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const entriesOf = (record: Record<string, unknown>) => Object.entries(record) as [string, unknown][];

const anyJson = fc.oneof(
  fc.jsonValue({ noUnicodeString: false }),
  fc.dictionary(fc.oneof(fc.string(), fc.constant("__proto__")), fc.jsonValue()),
);
const anyText = fc
  .tuple(anyJson, fc.constantFrom(0, 1, 2))
  .map(([value, indent]) => JSON.stringify(value, null, indent));

describe("the value of unfinished JSON", () => {
  test("is a prefix of the whole, for any prefix of any JSON", () => {
    fc.assert(
      fc.property(anyText, fc.nat(), (text, cut) => {
        const part = text.slice(0, cut % (text.length + 1));
        const value = valueSoFar(part);
        if (value !== undefined) expect(isPrefixOf(value, JSON.parse(text)), part).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test("is the whole at the end, however the text is cut into pieces, and no value changes later", () => {
    fc.assert(
      fc.property(anyText, fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }), (text, sizes) => {
        const pieces: string[] = [];
        for (let at = 0, index = 0; at < text.length; index++) {
          const size = sizes[index % sizes.length] as number;
          pieces.push(text.slice(at, at + size));
          at += size;
        }
        const values = read(pieces);
        const whole = JSON.parse(text);
        expect(values.at(-1)).toStrictEqual(whole);
        for (const [index, value] of values.slice(1).entries()) {
          expect(isPrefixOf(values[index], value), "a value is a prefix of the next").toBe(true);
        }
      }),
      { numRuns: 200 },
    );
  });

  test.for<[string, unknown]>([
    ["", undefined],
    ["  {", {}],
    ['{"ti', {}],
    ['{"title"', {}],
    ['{"title":', {}],
    ['{"title": "', { title: "" }],
    ['{"title": "Cur', { title: "Cur" }],
    ['{"title": "a\\', { title: "a" }],
    ['{"title": "a\\u00e', { title: "a" }],
    ['{"title": "\\ud83d', { title: "" }],
    ['{"title": "\\ud83d\\ude00', { title: "\u{1f600}" }],
    ['{"n": 12', {}],
    ['{"n": 12,', { n: 12 }],
    ['{"n": tru', {}],
    ["[[1, 2], [3", [[1, 2], []]],
    ['["a", {"b": [', ["a", { b: [] }]],
    ["```json\n[1, 2", [1]],
    ["```\n{}\n```", {}],
    ["Let me look.", undefined],
    ["[1, oops, 2]", [1]],
    ["[1] and more", [1]],
  ])("%j gives %j", ([text, value]) => {
    expect(valueSoFar(text)).toEqual(value);
  });

  test("counts a number or a name at the end of the whole text", () => {
    expect([read(["12"]), read(["tr", "ue"]), read(["```1```"])]).toEqual([[12], [true], [1]]);
  });

  test("cannot be changed by a reader", () => {
    const reader = new PartialJson();
    reader.add('{"list": [1, ');
    const value = reader.take()?.value as { list: number[] };
    expect(() => value.list.push(7)).toThrow(TypeError);
    reader.add("2]}");
    expect([value, reader.take()?.value]).toEqual([{ list: [1] }, { list: [1, 2] }]);
  });

  const shapes: readonly [string, (size: number) => string][] = [
    ["a long list", (size) => JSON.stringify(Array.from({ length: size }, (_, index) => ({ index })))],
    ["a long text", (size) => JSON.stringify({ text: "word ".repeat(size * 4) })],
    [
      "many keys",
      (size) => JSON.stringify(Object.fromEntries(Array.from({ length: size }, (_, key) => [`k${key}`, key]))),
    ],
    ["deep nesting", (size) => "[".repeat(size * 4)],
    ["blank lines", (size) => "\n".repeat(size * 8)],
    ["a long number", (size) => "1".repeat(size * 8)],
  ];
  test.for(shapes)("costs linear time for %s, piece by piece", ([, shape]) => {
    const timeOf = (size: number) => {
      const pieces = shape(size).match(/[\s\S]{1,5}/g) ?? [];
      const began = performance.now();
      read(pieces);
      return performance.now() - began;
    };
    timeOf(1000);
    // Eight times as much; a busy machine may disturb some of the measurements.
    const ratios = Array.from({ length: 5 }, () => timeOf(16_000) / Math.max(timeOf(2000), 1));
    expect(Math.min(...ratios)).toBeLessThan(30);
  });
});
