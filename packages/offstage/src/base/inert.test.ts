import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { inertLine, inertText } from "./inert.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for control characters
const active = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|\p{Surrogate}/u;

describe("inert text", () => {
  test.for([
    ["\x1b[31mred\x1b[0m", "␛[31mred␛[0m"],
    ["\x1b]8;;http://x\x07link", "␛]8;;http://x␇link"],
    ["\x9b31m", "<U+009B>31m"],
    ["a\rb", "a␍b"],
    ["\x7f", "␡"],
    ["\u202eevil\u202c", "<U+202E>evil<U+202C>"],
    ["\u2066x\u2069", "<U+2066>x<U+2069>"],
    ["\ud800", "<U+D800>"],
    ["\u{e0041}", "<U+E0041>"],
    ["pay\u00adpal", "pay<U+00AD>pal"],
    ["\u034f\u115f\u180e\u206a\u3164\uffa0", "<U+034F><U+115F><U+180E><U+206A><U+3164><U+FFA0>"],
    ["\ufe01\u{e0100}", "<U+FE01><U+E0100>"],
  ] as const)("shows %j as %j", ([text, shown]) => {
    expect(inertText(text)).toBe(shown);
  });

  test("keeps ordinary text, tabs and newlines", () => {
    const text = "Grüße, 日本語 😀👩‍👩‍👧 ❤️ می‌خواهم\n\tשלום";
    expect(inertText(text)).toBe(text);
  });

  test("contains nothing that controls a terminal, for any text", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary" }),
        (text) => !active.test(inertText(text)) && !active.test(inertLine(text)),
      ),
    );
  });

  test("fits on one line", () => {
    expect(inertLine("a\r\n  b\tc\nd")).toBe("a b c d");
  });
});
