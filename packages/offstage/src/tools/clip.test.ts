import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { clip } from "./json-safe.ts";

const mark = /\n\[clipped, (\d+) bytes\]$/;
const isWellFormed = (text: string): boolean => !/\p{Surrogate}/u.test(text);

describe("a text within the budget", () => {
  test.for(["", "ascii", "äöü", "€uro", "🙂🙂", "lone \ud800"])("%j is unchanged", (text) => {
    expect(clip(text, Buffer.byteLength(text))).toEqual({ text, clippedBytes: 0 });
  });
});

describe("a text beyond the budget", () => {
  test.for([
    ["ASCII", "a", 1],
    ["2-byte characters", "é", 2],
    ["3-byte characters", "€", 3],
    ["4-byte characters", "🙂", 4],
  ] as const)("of %s is cut between characters, wherever the budget falls", ([, character, bytes]) => {
    const text = character.repeat(200 / bytes);
    for (let budget = 30; budget < 60; budget++) {
      const { text: clipped, clippedBytes } = clip(text, budget);
      const kept = clipped.replace(mark, "");
      expect(text.startsWith(kept)).toBe(true);
      expect(Buffer.byteLength(kept) % bytes).toBe(0);
      expect(Buffer.byteLength(text) - Buffer.byteLength(kept)).toBe(clippedBytes);
      expect(Buffer.byteLength(clipped)).toBeLessThanOrEqual(budget);
      expect(Buffer.byteLength(clipped)).toBeGreaterThan(budget - bytes - 2);
    }
  });

  test("says how many bytes are missing", () => {
    expect(clip("x".repeat(100), 50)).toEqual({ text: `${"x".repeat(29)}\n[clipped, 71 bytes]`, clippedBytes: 71 });
  });

  test("shows a lone surrogate as U+FFFD, as UTF-8 has it", () => {
    const { text } = clip(`\ud800${"x".repeat(100)}`, 40);
    expect(text.startsWith("\ufffdxxx")).toBe(true);
  });

  test("leaves its mark out if the budget is too small for it", () => {
    expect(clip("x".repeat(100), 7)).toEqual({ text: "xxxxxxx", clippedBytes: 93 });
    expect(clip("🙂🙂", 3)).toEqual({ text: "", clippedBytes: 8 });
  });
});

test("any text in any budget is within it, well-formed and counted right", () => {
  const texts = fc.string({ unit: fc.constantFrom("a", "é", "€", "🙂", "\ud800", "\udfff", "\0"), maxLength: 120 });
  const property = fc.property(texts, fc.nat(200), (text, budget) => {
    const { text: clipped, clippedBytes } = clip(text, budget);
    const kept = clipped.replace(mark, "");
    expect(Buffer.byteLength(clipped)).toBeLessThanOrEqual(budget);
    expect(Buffer.byteLength(kept) + clippedBytes).toBe(Buffer.byteLength(text));
    expect(clippedBytes === 0 ? clipped === text : isWellFormed(clipped)).toBe(true);
  });
  fc.assert(property, { numRuns: 1000 });
});
