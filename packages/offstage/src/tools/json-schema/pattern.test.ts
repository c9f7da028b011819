import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isLinearPattern, unicodePattern } from "./pattern.ts";

describe("a pattern for older engines", () => {
  test.for([
    ["[\\w-.]", "[\\w\\-.]", "-"],
    ["[.-\\w]", "[.\\-\\w]", "-"],
    ["[\\w-]", "[\\w-]", "-"],
    ["\\d\\-\\d\\@\\_", "\\d-\\d@_", "1-2@_"],
    ["a{b}c]", "a\\{b\\}c\\]", "a{b}c]"],
    ["[\\'\\-]\\-", "['\\-]-", "'-"],
  ] as const)("%s becomes %s", ([pattern, strict, text]) => {
    expect(unicodePattern(pattern)).toBe(strict);
    expect(new RegExp(`^(?:${strict})$`, "u").test(text)).toBe(true);
  });

  test.for(["(", "[", "a**", "\\Z\\-", "(?P<name>a)"])("is none if no engine takes it: %s", (pattern) => {
    expect(unicodePattern(pattern)).toBeUndefined();
  });
});

describe("a pattern is linear", () => {
  test.for(["", "abc", "^[a-z0-9_-]{1,64}$", "^\\d{4}-\\d{2}-\\d{2}$", "^\\S+$", "\\S", "^[A-Z]{3}", "^a*b{2}c$"])(
    "without groups, and with at most one part of variable length: %s",
    (pattern) => {
      expect(isLinearPattern(pattern)).toBe(true);
    },
  );

  test.for([
    "^(a+)+$",
    "^(a|aa)+$",
    "a+$",
    "^a*a*$",
    "^a?a$b?",
    "^(ab)*$",
    "a|b",
    "^(a)\\1$",
    "^\\p{L}+$",
    "a".repeat(201),
  ])("or may not be: %s", (pattern) => {
    expect(isLinearPattern(pattern)).toBe(false);
  });

  test("only if the time it takes does not grow faster than the text", () => {
    const part = fc.constantFrom(
      "a",
      "[ab]",
      ".",
      "\\w",
      "a*",
      "[ab]+",
      "a?",
      "a{2}",
      "a{1,9}",
      "(a+)",
      "(a|b)*",
      "^",
      "$",
      "|",
    );
    const property = fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const pattern = parts.join("");
      if (unicodePattern(pattern) === undefined || !isLinearPattern(pattern)) return;
      const startedAt = performance.now();
      new RegExp(pattern, "u").test(`${"a".repeat(20_000)}!`);
      expect(performance.now() - startedAt).toBeLessThan(1000);
    });
    fc.assert(property, { numRuns: 2000 });
  });
});
