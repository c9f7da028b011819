import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { expect, test } from "vitest";
import { likePattern } from "./select-rows.ts";

const database = new DatabaseSync(":memory:");
const like = database.prepare("SELECT ? LIKE ? ESCAPE '\\' AS found");
const isFound = (content: string, pattern: string): boolean => like.get(content, pattern)?.found === 1;

// Letters with unusual cases, the characters of patterns and of JSON, and ordinary ones.
const letter = fc.constantFrom(..."aAbBiIkKsSzZ%_\\\"'/ \n\tıİſßẞöÖΣσς\u212a\u0307😀1");
const text = fc.string({ unit: letter, maxLength: 12 });
const found = fc.tuple(text, text, text).map(([before, needle, after]) => [before + needle + after, needle] as const);

const swapCase = (value: string): string =>
  Array.from(value, (character) =>
    character === character.toLowerCase() ? character.toUpperCase() : character.toLowerCase(),
  ).join("");

test("a pattern matches every text that contains the needle in any case", () => {
  fc.assert(
    fc.property(found, ([content, needle]) => {
      for (const form of [content, swapCase(content), content.toUpperCase()]) {
        if (!form.toLowerCase().includes(needle.toLowerCase())) continue;
        expect(isFound(form, likePattern(needle, "text"))).toBe(true);
      }
    }),
    { numRuns: 5_000 },
  );
});

test("a pattern for JSON matches the needle both in the JSON text and in its strings", () => {
  fc.assert(
    fc.property(found, ([content, needle]) => {
      const json = JSON.stringify({ [content]: [content] });
      expect(isFound(json, likePattern(needle, "json"))).toBe(true);
      expect(isFound(json.toUpperCase(), likePattern(json.slice(2, 9), "json"))).toBe(true);
    }),
    { numRuns: 5_000 },
  );
});

test("a pattern narrows: text without the needle is not matched", () => {
  expect(isFound("red apple", likePattern("APP", "text"))).toBe(true);
  expect(isFound("red pear", likePattern("APP", "text"))).toBe(false);
  expect(isFound("100 of it", likePattern("100%", "text"))).toBe(false);
  expect(isFound("axb", likePattern("a_b", "text"))).toBe(false);
  expect(isFound("silk", likePattern("milk", "text"))).toBe(false);
});

test("a very long needle is cut, since SQLite refuses long patterns", () => {
  const needle = "%a".repeat(100_000);
  expect(isFound(needle, likePattern(needle, "text"))).toBe(true);
});
